/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RECORDING_SCHEMA_H
#define RECORD_RECORDING_SCHEMA_H

/* The tables of recording.db, explained in docs/recording.md. */

#define RECORDING_DB "recording.db"
#define RECORDING_APPLICATION_ID 0x766d6d70 /* "vmmp", at offset 68 of the file */
#define RECORDING_FORMAT 1

static const char recording_schema[] =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE node(id INTEGER PRIMARY KEY, cpus TEXT, mem_bytes INTEGER);"
	"CREATE TABLE lane(id INTEGER PRIMARY KEY, vm_id TEXT NOT NULL,"
	" vm_name TEXT NOT NULL, vmm TEXT, pid INTEGER, accel TEXT,"
	" inside INTEGER NOT NULL, file TEXT NOT NULL,"
	" samples INTEGER NOT NULL DEFAULT 0, lost INTEGER NOT NULL DEFAULT 0,"
	" throttled INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE symbols(lane INTEGER NOT NULL, file TEXT NOT NULL);"
	"CREATE TABLE event(lane INTEGER NOT NULL, event INTEGER NOT NULL, name TEXT,"
	" type INTEGER, config INTEGER, config1 INTEGER, config2 INTEGER,"
	" period INTEGER, freq INTEGER, side TEXT, scale REAL, unit TEXT,"
	" PRIMARY KEY(lane, event)) WITHOUT ROWID;"
	"CREATE TABLE vcpu(lane INTEGER NOT NULL, vcpu INTEGER NOT NULL, tid INTEGER,"
	" found TEXT, comm TEXT, time_ns INTEGER);"
	"CREATE TABLE series(lane INTEGER NOT NULL, time_ns INTEGER NOT NULL,"
	" vcpu INTEGER NOT NULL, event INTEGER NOT NULL, raw INTEGER,"
	" enabled_ns INTEGER, running_ns INTEGER, state TEXT, lost INTEGER,"
	" PRIMARY KEY(lane, time_ns, vcpu, event)) WITHOUT ROWID;"
	"CREATE TABLE note(time_ns INTEGER, kind TEXT, vm TEXT, count INTEGER, text TEXT);";

#endif
