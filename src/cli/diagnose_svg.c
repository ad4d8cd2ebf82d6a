/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A diagnosis as a picture: a stacked bar for each VM and node, all its cycles long. */
#include <math.h>
#include <stdio.h>

#include "cli/diagnose_view.h"

#define WIDTH 860
#define LEFT 190 /* of the bars: names stand there */
#define BARS (WIDTH - LEFT - 70)
#define TOP 64
#define STEP 30
#define HEIGHT_OF_BAR 20
#define NAME 16 /* characters of a name that are shown */

/* Told apart also by those who see few colours: Okabe & Ito's set. */
static const char *const fills[FACTORS] = {
	[FACTOR_LOCALITY] = "#0072b2", [FACTOR_LLC] = "#e69f00",
	[FACTOR_SHARING] = "#cc79a7",  [FACTOR_MEMORY] = "#d55e00",
	[FACTOR_TRACKERS] = "#009e73",
};

/* A name, which may be anything, as text of XML; what has no room is left out. */
static void put_name(struct strbuf *out, const char *s)
{
	for (unsigned n = 0; *s; n++) {
		size_t len = str_utf8((const unsigned char *)s);

		if (n == NAME) {
			strbuf_puts(out, "…");
			return;
		}
		if (*s == '<')
			strbuf_puts(out, "&lt;");
		else if (*s == '&')
			strbuf_puts(out, "&amp;");
		else if (!len || (unsigned char)*s < ' ')
			strbuf_putc(out, '?');
		else
			strbuf_add(out, s, len);
		s += len ? len : 1;
	}
}

static void put_head(struct strbuf *out, unsigned bars)
{
	unsigned height = TOP + bars * STEP + 40;

	strbuf_addf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" "
		    "width=\"%d\" height=\"%u\" role=\"img\">\n"
		    "<title>Where the VMs' cycles go</title>\n"
		    "<style>\n"
		    "svg { background: #fff; font: 13px sans-serif; }\n"
		    "text { fill: #222; } .rest { fill: #999; } .busy { fill: #ddd; }\n"
		    "@media (prefers-color-scheme: dark) {\n"
		    "svg { background: #1b1b1b; } text { fill: #eee; }\n"
		    ".rest { fill: #888; } .busy { fill: #444; }\n"
		    "}\n"
		    "</style>\n",
		    WIDTH, height, WIDTH, height);
}

static void put_key(struct strbuf *out, unsigned i, const char *paint, const char *words)
{
	unsigned x = 10 + i % 4 * 210, y = 12 + i / 4 * 22;

	strbuf_addf(out,
		    "<rect x=\"%u\" y=\"%u\" width=\"14\" height=\"14\" %s/>"
		    "<text x=\"%u\" y=\"%u\">%s</text>\n",
		    x, y, paint, x + 20, y + 12, words);
}

static void put_legend(struct strbuf *out)
{
	char paint[32];

	for (unsigned f = 0; f < FACTORS; f++) {
		snprintf(paint, sizeof(paint), "fill=\"%s\"", fills[f]);
		put_key(out, f, paint, factor_title(f));
	}
	put_key(out, FACTORS, "class=\"rest\"", "other memory stalls");
	put_key(out, FACTORS + 1, "class=\"busy\"", "not waiting for memory");
}

/* A piece of a bar; returns where it ends. */
static double put_piece(struct strbuf *out, double x, unsigned y, double share,
			const char *paint, const char *words)
{
	double width = share > 0 ? share * BARS : 0;

	if (x + width > LEFT + BARS)
		width = LEFT + BARS - x;
	if (width < 0.05)
		return x;
	strbuf_addf(out,
		    "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" %s>"
		    "<title>%s: %.1f %%</title></rect>\n",
		    x, y, width, HEIGHT_OF_BAR, paint, words, 100 * share);
	return x + width;
}

static void put_bar(const struct diagnose_view *v, const struct diag_result *r, size_t node,
		    unsigned row, struct strbuf *out)
{
	const struct diag_vm_node *at = &r->node[node];
	unsigned y = TOP + row * STEP;
	double x = LEFT;
	char paint[32];

	strbuf_addf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 8, y + 15);
	put_name(out, v->window->vms[r->vm].name);
	strbuf_addf(out, ", node %d</text>\n",
		    node < v->machine->nnodes ? v->machine->nodes[node].id : (int)node);
	for (int f = 0; f < FACTORS; f++) {
		snprintf(paint, sizeof(paint), "fill=\"%s\"", fills[f]);
		if (at->part[f].measured)
			x = put_piece(out, x, y, at->part[f].cycles / at->cycles, paint,
				      factor_title(f));
	}
	x = put_piece(out, x, y, at->rest / at->cycles, "class=\"rest\"",
		      "other memory stalls");
	put_piece(out, x, y, (LEFT + BARS - x) / BARS, "class=\"busy\"",
		  "not waiting for memory");
	strbuf_addf(out, "<text x=\"%d\" y=\"%u\">%.0f %%</text>\n", LEFT + BARS + 8,
		    y + 15, 100 * at->stall / at->cycles);
}

void diagnose_svg(const struct diagnose_view *v, struct strbuf *out)
{
	unsigned bars = 0, row = 0;

	for (size_t i = 0; i < v->n; i++)
		for (size_t k = 0; k < DIAG_NODES; k++)
			bars += v->diagnosis->vms[v->order[i]].node[k].cycles > 0;
	put_head(out, bars);
	put_legend(out);
	for (size_t i = 0; i < v->n; i++)
		for (size_t k = 0; k < DIAG_NODES; k++) {
			const struct diag_result *r = &v->diagnosis->vms[v->order[i]];

			if (r->node[k].cycles > 0)
				put_bar(v, r, k, row++, out);
		}
	strbuf_addf(out,
		    "<text x=\"10\" y=\"%u\">Each bar is all unhalted cycles of a VM on a "
		    "node; at its end, the share that waits for memory.</text>\n</svg>\n",
		    TOP + bars * STEP + 24);
}
