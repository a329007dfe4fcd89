import type { BrowserContext, Page, Request, Response, WebSocket } from 'playwright-core';

/** How the names end by which a webview asks for files of an extension or the workspace. There is no such server. */
const WEBVIEW_FILES = '.vscode-resource.vscode-cdn.net';

/**
 * What the pages of a browser ask servers for until it is closed, whatever frame or worker of them asks. What a service
 * worker has answered is left out: it gets the files of webviews from the window, by names of servers that nobody asks.
 */
export class PageTraffic {
  readonly #context: BrowserContext;
  readonly #asked = new Set<Request | WebSocket>();

  constructor(context: BrowserContext) {
    this.#context = context;
    context.on('request', this.#see);
    context.on('response', this.#answer);
    context.on('page', this.#watch);
    for (const page of context.pages()) this.#watch(page);
  }

  /** The servers that were asked, such as `127.0.0.1:80`, in the order of the first time. */
  async servers(): Promise<string[]> {
    await Promise.all([...this.#asked].map(asked => this.#dropUnasked(asked)));
    const urls = [...this.#asked].map(asked => new URL(asked.url()));
    return [...new Set(urls.flatMap(({ host, protocol }) => (isOfNetwork(protocol) ? [host] : [])))];
  }

  /** Listens no more. The browser is used by other tests. */
  close(): void {
    this.#context.off('request', this.#see);
    this.#context.off('response', this.#answer);
    this.#context.off('page', this.#watch);
    for (const page of this.#context.pages()) page.off('websocket', this.#see);
  }

  #see = (asked: Request | WebSocket): void => void this.#asked.add(asked);

  #answer = (response: Response): void => {
    if (response.fromServiceWorker()) this.#asked.delete(response.request());
  };

  /** Leaves out a file of a webview that was not waited for: the window was left before a service worker answered. */
  async #dropUnasked(asked: Request | WebSocket): Promise<void> {
    if (!('response' in asked) || !new URL(asked.url()).host.endsWith(WEBVIEW_FILES)) return;
    const response = await asked.response();
    if (response === null && asked.failure()?.errorText === 'net::ERR_ABORTED') this.#asked.delete(asked);
  }

  #watch = (page: Page): void => void page.on('websocket', this.#see);
}

/** Not of the network: `data:`, `blob:` and the like, which hold their content, or have it from the page itself. */
function isOfNetwork(protocol: string): boolean {
  return !['data:', 'blob:', 'about:'].includes(protocol);
}
