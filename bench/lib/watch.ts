import type { Frame, Page } from 'playwright-core';

/**
 * Times are milliseconds since the epoch: the page, its frames, the extension host and this process are on one machine.
 */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

declare global {
  /** In a page: when the events that are watched for last happened. */
  var lastEvents: Record<string, number>;
}

/** What these functions use of a page. */
interface PageElement {
  readonly textContent: string | null;
  readonly offsetParent: unknown;
  readonly scrollHeight: number;
  scrollTop: number;
}
interface PageGlobals {
  readonly document: {
    querySelector(selector: string): PageElement | null;
    querySelectorAll(selector: string): Iterable<PageElement>;
  };
  requestAnimationFrame(callback: (at: number) => void): number;
}

/** Notes in the page when an event happens, before anything else handles it. */
export async function noteEvents(target: Page | Frame, types: readonly string[]): Promise<void> {
  await target.evaluate(names => {
    globalThis.lastEvents = {};
    for (const type of names) {
      const note = (): void =>
        void (globalThis.lastEvents[type] = performance.timeOrigin + performance.now());
      (globalThis as unknown as EventTarget).addEventListener(type, note, { capture: true });
    }
  }, types);
}

/** When an event of this kind last happened there. */
export function lastEvent(target: Page | Frame, type: string): Promise<number> {
  return target.evaluate(name => globalThis.lastEvents[name] ?? Number.NaN, type);
}

/**
 * When the browser first drew text or a picture of a page, in its own words: "first contentful paint". Unlike
 * {@link whenShown} it cannot be late because the page was busy with what it draws next.
 */
export function firstPaint(target: Page | Frame): Promise<number> {
  return target.evaluate(
    () =>
      new Promise<number>(resolve => {
        const observer = new PerformanceObserver(list => {
          for (const { startTime } of list.getEntriesByName('first-contentful-paint'))
            resolve(performance.timeOrigin + startTime);
        });
        // The types are those of Node, which paints nothing.
        observer.observe({ type: 'paint' as 'mark', buffered: true });
      }),
  );
}

/** What must be shown. */
export interface Shown {
  /** A selector of CSS. */
  readonly selector: string;
  /** A part of the text of one of the elements. */
  readonly text: string;
}

/**
 * Waits until all of this is shown, looking before each frame is drawn.
 * @returns when the frame that shows it was about to be drawn. Rejects after 30 seconds.
 */
export async function whenShown(target: Page | Frame, wanted: readonly Shown[]): Promise<number> {
  const handle = await target.waitForFunction(
    all => {
      const { document } = globalThis as unknown as PageGlobals;
      const isShown = ({ selector, text }: Shown): boolean =>
        [...document.querySelectorAll(selector)].some(
          element =>
            (element.textContent ?? '').replaceAll('\u00a0', ' ').includes(text) &&
            element.offsetParent !== null,
        );
      return all.every(isShown) && performance.timeOrigin + performance.now();
    },
    wanted,
    { polling: 'raf', timeout: 30_000 },
  );
  return (await handle.jsonValue()) as number;
}

/**
 * Scrolls an element from end to end, a step each frame.
 * @returns how long each frame took, in milliseconds
 */
export function scrollThrough(target: Page | Frame, selector: string, frames: number): Promise<number[]> {
  return target.evaluate(
    async ([name, count]) => {
      const page = globalThis as unknown as PageGlobals;
      const element = page.document.querySelector(name);
      if (!element) throw new Error(`There is no ${name}`);
      const times: number[] = [];
      const next = (): Promise<number> => new Promise(resolve => void page.requestAnimationFrame(resolve));
      element.scrollTop = element.scrollHeight;
      await next();
      let last = await next();
      for (let frame = 1; frame <= count; frame++) {
        element.scrollTop = element.scrollHeight * (1 - frame / count);
        const at = await next();
        times.push(at - last);
        last = at;
      }
      return times;
    },
    [selector, frames] as const,
  );
}
