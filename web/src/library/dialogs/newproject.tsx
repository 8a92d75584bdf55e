// Definitions dropped on a project of the samples: a project of their own, so that the two do not mix.

import { pathOf } from "../../kit/address";
import { Button, dialog, Field, Says } from "../../kit/dialog";
import { request } from "../../kit/http";
import { h, Fragment } from "../../kit/ui";

/** Asks where definitions go. Resolves to true if they are to be added to the samples; a project made of them is opened. */
export async function projectDialog(files: readonly File[]): Promise<boolean> {
  let add = false;
  const first = files[0]?.name.replace(/(\.\d+)?\.def$|\.[a-z]+$/i, "") ?? "";
  const what = files.length === 1 ? (files[0]?.name ?? "") : `${files.length} files`;
  await dialog("Make a project of these definitions?", (d) => {
    const act = async (): Promise<void> => {
      const body = new FormData();
      body.append("title", d.box.querySelector("input")?.value ?? "");
      for (const file of files) {
        body.append("files", file, file.name);
      }
      d.say("Uploading …", false);
      const reply = await request("POST /projects", {}, { body });
      if (reply.ok) {
        location.assign(pathOf(reply.answer.name, "definitions"));
      } else {
        d.say(reply.why);
      }
    };
    return (
      <>
        <p>This project has the samples. {what}: definitions of your own stay apart in a project of their own.</p>
        <Field label="Title of the project"><input type="text" autocomplete="off" maxLength={100} value={first} data-focus="" /></Field>
        <div class="row">
          <Button text="Make the project" primary run={() => void act()} />
          <Button text="Add to the samples" run={() => { add = true; d.close(); }} />
          <Button text="Cancel" run={d.close} />
        </div>
        <Says d={d} />
      </>
    );
  }, { kind: "question" }).closed;
  return add;
}
