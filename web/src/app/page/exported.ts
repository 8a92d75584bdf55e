// The menu of what was exported: to the clipboard, or to files.

import { copyText } from "../../kit/copy/index";
import { openMenu } from "../../kit/menu";
import { notify } from "../../kit/notify";
import type { Answer } from "../../message/socket";

type Export = NonNullable<Answer["export"]>;
type File = Export["Files"][number];

function copy(file: File): void {
  void copyText(file.Text).then((done) => notify(done ? `Copied ${file.Name}` : "The browser does not allow copying here", done ? "ok" : "err"));
}

function save(file: File): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file.Text], { type: file.Type }));
  link.download = file.Name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Offers files. */
export function offerExport(made: Export, anchor: HTMLElement): void {
  const losses = made.Losses ?? [];
  openMenu(anchor, {
    label: made.Title,
    items: [
      ...made.Files.flatMap((file) => [
        { title: made.Files.length > 1 ? `Copy ${file.Name}` : "Copy", run: () => copy(file), preview: () => file.Text },
        { title: `Save as ${file.Name}`, run: () => save(file), preview: () => file.Text },
      ]),
      ...(made.Files.length > 1 ? [{ title: "Save all", run: () => made.Files.forEach(save) }] : []),
      ...(losses.length > 0 ? [{ title: `Lost: ${losses.length}`, run: () => void copyText(losses.join("\n")).then(() => notify("Copied the list of losses")), preview: () => losses.join("\n") }] : []),
    ],
  });
}
