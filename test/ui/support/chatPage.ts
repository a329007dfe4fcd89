import { build } from 'esbuild';
import * as path from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { QUIET_ARGS } from '../../../scripts/headless/browser.mjs';
import { chromiumPath } from '../../../scripts/headless/findChromium.mjs';
import { slashCommands } from '../../../src/agent/session/model/offline/slashCommands.ts';
import { chatHtml } from '../../../src/views/chat/chatHtml.ts';
import type { ChatStatus, HostMessage, ViewItem, WebviewMessage } from '../../../src/views/chat/protocol.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const ORIGIN = 'https://panel.test';

/** The part of VS Code's webview API that the panel uses. */
const HOST_SCRIPT = `
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    console.error('blocked: ' + violatedDirective + ' ' + blockedURI);
  });
  window.sent = [];
  let state;
  window.acquireVsCodeApi = () => ({
    postMessage: message => window.sent.push(message),
    getState: () => state,
    setState: next => { state = next; },
  });
`;

declare global {
  /** In the page: the messages that the panel has sent. */
  var sent: WebviewMessage[];
  function dispatchEvent(event: MessageEvent): boolean;
  function requestAnimationFrame(callback: (time: number) => void): number;
}

/** The chat panel's real page and script in Chromium, with a host that records messages. */
export class ChatPage {
  readonly page: Page;
  /** Errors in the page, and what its content security policy blocked. */
  readonly complaints: string[] = [];

  /** In the page that the browser has already, if there is one: opening another takes longer than most tests. */
  static async open(browser: Browser, viewport = { width: 300, height: 600 }): Promise<ChatPage> {
    const context = browser.contexts()[0] ?? (await contextOf(browser));
    const chat = new ChatPage(context.pages()[0] ?? (await context.newPage()));
    const { page } = chat;
    page.on('console', message => chat.complaints.push(message.text()));
    page.on('pageerror', error => chat.complaints.push(String(error)));
    page.on('request', request => {
      if (!request.url().startsWith(ORIGIN)) chat.complaints.push(`request to ${request.url()}`);
    });
    await page.setViewportSize(viewport);
    // Nothing is below the mouse.
    await page.mouse.move(-1, -1);
    await page.goto(ORIGIN);
    await page.waitForFunction(() => globalThis.sent.some(({ type }) => type === 'ready'));
    return chat;
  }

  private constructor(page: Page) {
    this.page = page;
  }

  /**
   * Sends the panel messages of the host, or any other data; several come one right after the other. Returns once the
   * panel has drawn what they changed: it scrolls to the end when the heights are known.
   */
  async post(...messages: readonly (HostMessage | Record<string, unknown>)[]): Promise<void> {
    await this.page.evaluate(async sent => {
      for (const data of sent) globalThis.dispatchEvent(new MessageEvent('message', { data }));
      const frame = () => new Promise(resolve => globalThis.requestAnimationFrame(resolve));
      await frame();
      await frame();
    }, messages);
  }

  async snapshot(items: ViewItem[], status: Partial<ChatStatus> = {}): Promise<void> {
    await this.post(snapshotOf(items, status));
  }

  async delta(items: ViewItem[], more: DeltaParts = {}): Promise<void> {
    await this.post(deltaOf(items, more));
  }

  /** The messages that the panel has sent since the last call, without `ready`. */
  async said(): Promise<WebviewMessage[]> {
    const messages = await this.page.evaluate(() => globalThis.sent.splice(0));
    return messages.filter(({ type }) => type !== 'ready');
  }

  async close(): Promise<void> {
    this.page.removeAllListeners();
    await this.page.goto('about:blank');
  }
}

/** Serves the page, its script and its style, and nothing else. */
async function contextOf(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext();
  await context.addInitScript(HOST_SCRIPT);
  const script = await bundle();
  const html = chatHtml({
    cspSource: ORIGIN,
    nonce: 'test',
    scriptUri: `${ORIGIN}/chat.js`,
    styleUris: [`${ORIGIN}/chat.css`],
    language: 'en',
    title: 'Redline Chat',
  });
  await context.route('**/*', route => {
    switch (new URL(route.request().url()).pathname) {
      case '/':
        return route.fulfill({ contentType: 'text/html', body: html });
      case '/chat.js':
        return route.fulfill({ contentType: 'text/javascript', body: script });
      case '/chat.css':
        return route.fulfill({ path: path.join(root, 'media/chat.css') });
      case '/favicon.ico':
        return route.fulfill({ status: 204 });
      default:
        return route.abort();
    }
  });
  return context;
}

interface DeltaParts {
  readonly order?: string[];
  readonly status?: Partial<ChatStatus>;
}

/** The message that shows a whole conversation. */
export function snapshotOf(items: ViewItem[], status: Partial<ChatStatus> = {}): HostMessage {
  const commands = [...slashCommands()];
  return { type: 'snapshot', session: 's1', commands, items, status: statusOf(status) };
}

/** The message that changes some items of it. */
export function deltaOf(items: ViewItem[], { order, status }: DeltaParts = {}): HostMessage {
  return {
    type: 'delta',
    items,
    texts: [],
    ...(order ? { order } : {}),
    ...(status ? { status: statusOf(status) } : {}),
  };
}

/** Starts the Chromium that the other UI tests use. */
export async function openChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: await chromiumPath(),
    chromiumSandbox: process.platform !== 'linux',
    args: QUIET_ARGS,
  });
}

function statusOf(more: Partial<ChatStatus>): ChatStatus {
  return {
    state: 'idle',
    mode: 'recommend',
    planMode: false,
    instructions: [],
    model: 'Offline',
    offline: true,
    ...more,
  };
}

let bundled: Promise<string> | undefined;

/** Bundles the panel's script from its current sources. */
function bundle(): Promise<string> {
  bundled ??= build({
    entryPoints: [path.join(root, 'src/views/chat/webview/main.ts')],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    logLevel: 'warning',
  }).then(({ outputFiles: [file] }) => file?.text ?? '');
  return bundled;
}
