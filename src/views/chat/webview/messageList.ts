import * as l10n from '@vscode/l10n';
import type { DeltaMessage, ViewItem } from '../protocol.ts';
import { button, el } from './dom.ts';
import { canGrow, growAnswer } from './answer.ts';
import { isCard, newsOf } from '../words/newsWords.ts';
import { CardNews } from './card/cardNews.ts';
import { renderItem } from './items.ts';

/** How near to the end, in pixels, counts as being at the end. */
const NEAR_END_PX = 32;
/** How many items of a conversation that is opened are rendered at once: more than the tallest panel shows. */
const FIRST = 50;
/** For how long earlier items are rendered before the page may do something else, in milliseconds. */
const SLICE_MS = 8;

/** The list of messages. It follows the end while the user is there, and otherwise stays where it is. */
export class MessageList {
  readonly element: HTMLElement;
  readonly #scroller: HTMLElement;
  readonly #log: HTMLElement;
  readonly #toEnd: HTMLButtonElement;
  readonly #news = new CardNews();
  readonly #items = new Map<string, ViewItem>();
  readonly #nodes = new Map<string, HTMLElement>();
  /** The keys of the first items, which are still to be rendered above the others. */
  #above: string[] = [];
  #following = true;
  /** The height of the scroller when it was last scrolled to the end, in pixels. */
  #height = 0;

  constructor(empty: HTMLElement) {
    this.#log = el('div', {
      class: 'log',
      role: 'log',
      aria: { live: 'polite', relevant: 'additions' },
    });
    const aria = { label: l10n.t('Conversation') };
    // The scroller is focusable, so that the keyboard can scroll a chat without other controls.
    this.#scroller = el('div', { class: 'scroller', role: 'region', tabIndex: 0, aria }, this.#log, empty);
    this.#toEnd = button({
      class: 'to-end',
      icon: 'arrow-down',
      title: l10n.t('Scroll to End'),
      aria: { label: l10n.t('Scroll to End') },
      onClick: () => this.scrollToEnd(),
    });
    this.#toEnd.hidden = true;
    this.element = el('main', { class: 'list' }, this.#scroller, this.#toEnd, this.#news.element);
    this.#scroller.addEventListener('scroll', () => this.#handleScroll(), { passive: true });
    new ResizeObserver(() => this.#keepEnd()).observe(this.#scroller);
    new ResizeObserver(() => this.#keepEnd()).observe(this.#log);
  }

  /** The items of a kind, in order. */
  all<Kind extends ViewItem['kind']>(kind: Kind): Extract<ViewItem, { kind: Kind }>[] {
    const found = [...this.#items.values()].filter(item => item.kind === kind);
    return found as Extract<ViewItem, { kind: Kind }>[];
  }

  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  /** Fills the empty list from its end, where the user looks. Entries above follow step by step. */
  open(items: readonly ViewItem[]): void {
    for (const item of items) this.#items.set(item.key, item);
    this.#above = items.slice(0, -FIRST).map(({ key }) => key);
    for (const item of items.slice(-FIRST)) this.#log.append(this.#render(item));
    this.#keepEnd();
    if (this.#above.length === 0) return;
    // Earlier messages are not news to a screen reader.
    this.#log.ariaLive = 'off';
    this.#goOnAbove();
  }

  update({ items, texts, order }: DeltaMessage): void {
    // Changes at the end of a long conversation do not wait for its beginning.
    if (order || [...items, ...texts].some(({ key }) => !this.#nodes.has(key))) this.#renderAbove(Infinity);
    const last = order?.at(-1) ?? '';
    const isNewPreview = !this.#nodes.has(last) && items.some(item => item.key === last && isCard(item));
    for (const item of items) this.#put(item);
    for (const { key, append, reasoning } of texts) {
      const item = this.#items.get(key);
      if (item?.kind !== 'assistant') continue;
      const grown = { ...item, text: item.text + append, reasoning: item.reasoning + reasoning };
      const node = this.#nodes.get(key);
      if (!canGrow(node, reasoning)) this.#put(grown);
      else {
        this.#items.set(key, grown);
        growAnswer(node, append, reasoning);
      }
    }
    if (order) this.#reorder(order);
    // The result of the user's last action (Undo, Reopen) must not stay out of sight.
    if (isNewPreview) this.#following = true;
    this.#keepEnd();
  }

  /** Scrolls to the end and follows it again. */
  scrollToEnd(): void {
    this.#following = true;
    this.#keepEnd();
  }

  /** @param deadline when to go on later, in `performance.now()` milliseconds */
  #renderAbove(deadline: number): void {
    for (let key = this.#above.pop(); key !== undefined; key = this.#above.pop()) {
      const item = this.#items.get(key);
      if (item) this.#log.prepend(this.#render(item));
      if (this.#above.length === 0) this.#log.ariaLive = 'polite';
      else if (performance.now() > deadline) {
        this.#goOnAbove();
        return;
      }
    }
  }

  /** Renders more of the earlier items once the page has been drawn as it is. */
  #goOnAbove(): void {
    requestAnimationFrame(() =>
      setTimeout(() => {
        if (this.element.isConnected) this.#renderAbove(performance.now() + SLICE_MS);
      }),
    );
  }

  #render(item: ViewItem): HTMLElement {
    const node = renderItem(item, this.#nodes.get(item.key));
    this.#items.set(item.key, item);
    this.#nodes.set(item.key, node);
    return node;
  }

  #put(item: ViewItem): void {
    const old = this.#nodes.get(item.key);
    if (!old) return void this.#render(item);
    const before = this.#items.get(item.key);
    if (isCard(item)) {
      old.ariaLive = 'off';
      if (before && isCard(before)) this.#news.tell(newsOf(before, item));
    }
    const focus = focusIn(old);
    const node = this.#render(item);
    if (node !== old) old.replaceWith(node);
    if (focus !== undefined && !node.contains(document.activeElement)) this.#restoreFocus(node, focus);
  }

  #reorder(order: readonly string[]): void {
    const wanted = new Set(order);
    for (const [key, node] of this.#nodes) {
      if (wanted.has(key)) continue;
      // Keyboard focus continues in the conversation, not at the top of the page.
      if (node.contains(document.activeElement)) this.#scroller.focus({ preventScroll: true });
      node.remove();
      this.#nodes.delete(key);
      this.#items.delete(key);
    }
    let next = this.#log.firstElementChild;
    for (const key of order) {
      const node = this.#nodes.get(key);
      if (!node) continue;
      if (node === next) next = next.nextElementSibling;
      else this.#log.insertBefore(node, next);
    }
    const items = order.flatMap(key => this.#items.get(key) ?? []);
    this.#items.clear();
    for (const item of items) this.#items.set(item.key, item);
  }

  /** Focuses the same control if it still exists, else the same one of the next pending card, else the card itself. */
  #restoreFocus(node: HTMLElement, focus: FocusedControl): void {
    const nextCard = [...this.#log.querySelectorAll('.card.pending')].find(
      card => node.compareDocumentPosition(card) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    const target = find(node, focus) ?? (nextCard && find(nextCard, focus)) ?? node;
    target.focus({ preventScroll: target !== node });
  }

  /**
   * After a change of the height, `ResizeObserver` scrolls back to the end if the list was there before: the user has not left it.
   */
  #handleScroll(): void {
    if (this.#scroller.clientHeight === this.#height) this.#updateFollowing();
  }

  #updateFollowing(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    this.#following = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    this.#toEnd.hidden = this.#following;
  }

  #keepEnd(): void {
    if (this.#following) this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#height = this.#scroller.clientHeight;
    this.#updateFollowing();
  }
}

/** Finds a focused control again in the element that replaces its own. */
interface FocusedControl {
  readonly selector: string;
  /** Its index among the matches of the selector. */
  readonly at: number;
}

function find(root: Element, { selector, at }: FocusedControl): HTMLElement | undefined {
  const all = root.querySelectorAll<HTMLElement>(selector);
  return all[Math.min(at, all.length - 1)];
}

/** The focused control, to be found in another element; `undefined` if the focus is not in `root`. */
function focusIn(root: HTMLElement): FocusedControl | undefined {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLElement) || !root.contains(activeElement) || activeElement === root) {
    return undefined;
  }
  const selector = selectorOf(activeElement);
  return { selector, at: [...root.querySelectorAll(selector)].indexOf(activeElement) };
}

function selectorOf(control: HTMLElement): string {
  const { action, of } = control.dataset;
  // A part's button alternates between undoing and applying it, so its action does not identify it.
  if (of !== undefined) return `[data-of="${CSS.escape(of)}"]`;
  if (action !== undefined) return `[data-action="${CSS.escape(action)}"]`;
  const [first] = control.classList;
  return first === undefined ? control.localName : `.${CSS.escape(first)}`;
}
