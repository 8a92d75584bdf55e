// The drawers, loaded when the first one is opened.

import { ConnectionsDrawer } from "./conns";
import { DiffDrawer } from "./diff";
import type { DrawerTable } from "./drawer";
import { TableDrawer } from "./fieldtable";
import { MarkersDrawer } from "./markers";
import { TimelineDrawer } from "./timeline";
import { TypesDrawer } from "./types";

export const drawers: DrawerTable = { types: TypesDrawer, timeline: TimelineDrawer, conns: ConnectionsDrawer, table: TableDrawer, diff: DiffDrawer, markers: MarkersDrawer };
