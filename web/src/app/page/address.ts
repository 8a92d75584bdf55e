// The address of the page: what is shown, to be shown again, and as a link.

import { linkTo, readAddress, type Shown, writeAddress } from "../../kit/address";
import { copyText } from "../../kit/copy/index";
import { hexOf } from "../../kit/hextext";
import { notify } from "../../kit/notify";

/** The page. */
interface AddressHost {
  view(): Shown;
  bytes(): Uint8Array; // of the message
  toList(): boolean; // tells a list of frames what is selected, if the page has one: then the address is that of the list
}

/** The address. */
export class PageAddress {
  private readonly host: AddressHost;

  constructor(host: AddressHost) {
    this.host = host;
    addEventListener("hashchange", () => {
      const { hex } = readAddress();
      if (location.hash === "#main") {
        this.write(); // by the skip link
      } else if (hex !== undefined && hex !== hexOf(host.bytes())) {
        location.reload();
      }
    });
  }

  /** Writes what is shown, soon or now. */
  write(now = false): void {
    if (this.host.toList()) {
      return;
    }
    writeAddress({ ...this.host.view(), text: undefined }, now); // what is typed is in the room
  }

  /** Copies a link to what is shown, with the text. */
  async copy(): Promise<void> {
    const { href, left } = await linkTo(this.host.view());
    if (!await copyText(href)) {
      notify("The browser does not allow copying here", "err");
    } else if (left === "") {
      notify("Copied a link to this view");
    } else {
      notify(`Copied a link without ${left}: too large for a link`, "warn");
    }
  }
}
