import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Frame } from 'playwright-core';
import type { Workbench } from './workbench.mjs';

/** All controls of a page that must be reachable by keyboard. */
const CONTROLS = ':is(button:not([disabled]), select, textarea, input, summary, a[href], [tabindex="0"])';

/** The frame that contains the chat's document. */
async function chatDocument(workbench: Workbench): Promise<Frame> {
  const body = await workbench.chatFrame().locator('body').elementHandle();
  const frame = await body?.ownerFrame();
  return frame ?? assert.fail('The chat has no frame.');
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** The accessibility violations that axe-core finds in the chat as it is now. */
export async function axeViolations(workbench: Workbench): Promise<string[]> {
  const frame = await chatDocument(workbench);
  // The chat is transparent, and axe cannot see the side bar behind it: give the document its colour meanwhile.
  const sideBar = workbench.page.locator('.part.sidebar');
  const colour = await sideBar.evaluate(
    one => one.ownerDocument.defaultView.getComputedStyle(one).backgroundColor as string,
  );
  const root = frame.locator('html');
  await root.evaluate((html, value) => (html.style.background = value), colour);
  await frame.evaluate(axe.source);
  const { violations } = await frame.evaluate<AxeResult>('axe.run(document)');
  await root.evaluate(html => (html.style.background = ''));
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id} (${help}): ${html}\n${failureSummary}`),
  );
}

/** Presses Tab from the chat's first control on, and returns the controls that were not reached. */
export async function unreachableByKeyboard(workbench: Workbench): Promise<string[]> {
  const chat = workbench.chatFrame();
  const controls = chat.locator(CONTROLS).filter({ visible: true });
  const names = await controls.evaluateAll(all =>
    all.map((one, i) => {
      one.dataset['walk'] = String(i);
      return `${one.localName}.${one.className} ${one.ariaLabel ?? one.textContent}`;
    }),
  );
  const reached = new Set<string>();
  await chat.locator('[data-walk="0"]').focus();
  // Twice around: what is redrawn meanwhile may take a step of its own.
  for (let step = 0; step < 2 * names.length && reached.size < names.length; step += 1) {
    const at = await chat.locator(':focus').evaluateAll(all => all.map(one => String(one.dataset['walk'])));
    for (const index of at) reached.add(index);
    await workbench.page.keyboard.press('Tab');
  }
  return names.filter((_, i) => !reached.has(String(i)));
}

/** The accessible names of the visible buttons. */
export async function buttonNames(workbench: Workbench): Promise<string[]> {
  const snapshot = await workbench.chatFrame().locator('body').ariaSnapshot();
  return [...snapshot.matchAll(/^\s*- '?button "((?:[^"\\]|\\.)*)"/gm)].map(([, name = '']) => name);
}

/** The HTML of visible controls without an accessible name. */
export function unnamedControls(workbench: Workbench): Promise<string[]> {
  const controls = workbench.chatFrame().locator(CONTROLS).filter({ visible: true });
  return controls.evaluateAll(all =>
    all.filter(one => (one.ariaLabel ?? one.textContent ?? '').trim() === '').map(one => one.outerHTML),
  );
}
