import type { Page } from 'playwright-core';

/** What the pages of a browser ask for, from now on, whatever frame, worker or service worker of them asks. */
export class PageTraffic {
  readonly #urls = new Set<string>();

  constructor(page: Page) {
    const see = (one: Page): void => {
      one.on('websocket', socket => this.#urls.add(socket.url()));
    };
    const context = page.context();
    context.on('request', request => this.#urls.add(request.url()));
    context.on('page', see);
    for (const one of context.pages()) see(one);
  }

  /** The servers that were asked, such as `127.0.0.1:80`, in the order of the first time. */
  servers(): string[] {
    const urls = [...this.#urls].map(url => new URL(url));
    return [...new Set(urls.flatMap(({ host, protocol }) => (isOfNetwork(protocol) ? [host] : [])))];
  }
}

/** Not of the network: `data:`, `blob:` and the like, which hold their content, or have it from the page itself. */
function isOfNetwork(protocol: string): boolean {
  return !['data:', 'blob:', 'about:'].includes(protocol);
}
