/** Takes the frames of a moving picture of a window, with a line above that tells the story and one below from the disk. */
import { loadSharp } from './stage.mjs';

/** The heights of the two lines, in pixels. */
const ABOVE = 44;
const BELOW = 36;
const STEP_MS = 50;
const STEPS = 8;

/** Elements that Playwright must not draw. */
const STILL = { animations: 'disabled', caret: 'hide' };

/** The lines of a frame: the event, and a file's content. `isNew` marks text that was not on disk before. */
/** @typedef {{ title: string, file: string, code: string, isNew: boolean }} Lines */

export class Film {
  #page;
  #frames = [];
  #pointer = { x: 0, y: 0 };
  /** The lines of the frames that follow. @type {Lines} */
  lines;

  /** @param {import('playwright-core').Page} page */
  constructor(page) {
    this.#page = page;
  }

  /**
   * Takes a frame of the window.
   * @param {number} duration in milliseconds
   */
  async shoot(duration) {
    this.#frames.push({ window: await this.#page.screenshot(STILL), lines: this.lines, duration });
  }

  /**
   * Draws a mouse pointer, which the pictures of a page lack.
   * @param {{ x: number, y: number }} at
   */
  async showPointer(at) {
    this.#pointer = at;
    await this.#page.evaluate(drawPointer, at);
  }

  /**
   * Moves the pointer to the middle of the target, and shoots on the way.
   * @param {import('playwright-core').Locator} target
   */
  async pointAt(target) {
    await target.scrollIntoViewIfNeeded();
    const box = await target.boundingBox();
    const to = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    const from = this.#pointer;
    for (let step = 1; step <= STEPS; step++) {
      const part = (1 - Math.cos((Math.PI * step) / STEPS)) / 2;
      await this.showPointer({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });
      if (step < STEPS) await this.shoot(STEP_MS);
    }
    await target.hover();
  }

  /** Takes the pointer out of the picture. */
  async hidePointer() {
    await this.#page.evaluate(() => document.querySelector('#film-pointer')?.remove());
  }

  /**
   * The film as a GIF.
   * @returns {Promise<Buffer>}
   */
  async develop() {
    const sharp = await loadSharp();
    const { width, height } = this.#page.viewportSize();
    const page = await this.#page.context().newPage();
    await page.setViewportSize({ width, height: ABOVE + height + BELOW });
    await page.setContent(FRAME);
    const pictures = [];
    for (const { window, lines } of this.#frames) {
      await page.evaluate(fillIn, { ...lines, window: `data:image/png;base64,${window.toString('base64')}` });
      pictures.push(await page.screenshot(STILL));
    }
    await page.close();
    return sharp(pictures, { join: { animated: true } })
      .gif({ delay: this.#frames.map(({ duration }) => duration), loop: 0, dither: 0, effort: 10 })
      .toBuffer();
  }
}

const FRAME = `<style>
  body { margin: 0; background: #10151c; color: #f4f5f7; font: 17px system-ui, sans-serif; }
  div { display: flex; align-items: center; box-sizing: border-box; padding: 0 16px; white-space: pre; }
  #above { height: ${ABOVE}px; font-weight: 600; }
  img { display: block; }
  #below { height: ${BELOW}px; font-size: 13px; color: #aab2bd; }
  code { font: 13px monospace; color: #f4f5f7; padding: 3px 8px; border-radius: 4px; margin-left: 10px; background: #2a313c; }
  code.new { background: #1f6f3a; }
</style><div id="above"></div><img><div id="below"><span></span><code></code></div>`;

/** Runs in the page of the frames. */
function fillIn({ title, file, code, isNew, window }) {
  const picture = document.querySelector('img');
  picture.src = window;
  document.querySelector('#above').textContent = title;
  document.querySelector('#below span').textContent = `${file} on disk`;
  const shown = document.querySelector('#below code');
  shown.textContent = code;
  shown.classList.toggle('new', isNew);
  return picture.decode();
}

/** Runs in the page of the window. */
function drawPointer({ x, y }) {
  let pointer = document.querySelector('#film-pointer');
  if (!pointer) {
    pointer = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    pointer.id = 'film-pointer';
    pointer.setAttribute('viewBox', '0 0 24 24');
    pointer.style.cssText = 'position:fixed;width:26px;height:26px;z-index:1000000;pointer-events:none';
    const arrow = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    arrow.setAttribute('d', 'M4 2v17l4.5-4 2.8 6.5 3-1.3-2.8-6.4H18z');
    arrow.setAttribute('style', 'fill:#fff;stroke:#000;stroke-width:1.4;stroke-linejoin:round');
    pointer.append(arrow);
    document.body.append(pointer);
  }
  pointer.style.left = `${Math.round(x) - 4}px`;
  pointer.style.top = `${Math.round(y) - 2}px`;
}
