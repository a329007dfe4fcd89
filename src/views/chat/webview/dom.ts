import * as l10n from '@vscode/l10n';

/** The properties of a new element. Text always becomes text nodes, and no attribute can hold a script. */
export interface Props {
  readonly class?: string;
  readonly title?: string;
  readonly role?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly aria?: Readonly<Record<string, string>>;
  readonly tabIndex?: number;
  readonly onClick?: (event: MouseEvent) => void;
}

type Child = Node | string | false | undefined;

/** Creates an element. Children that are `false` or `undefined` are skipped. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (props.class !== undefined) element.className = props.class;
  if (props.title !== undefined) element.title = props.title;
  if (props.role !== undefined) element.setAttribute('role', props.role);
  if (props.tabIndex !== undefined) element.tabIndex = props.tabIndex;
  for (const [name, value] of Object.entries(props.data ?? {})) element.dataset[name] = value;
  for (const [name, value] of Object.entries(props.aria ?? {})) element.setAttribute(`aria-${name}`, value);
  const { onClick } = props;
  if (onClick) element.addEventListener('click', event => onClick(event as MouseEvent));
  element.append(...children.filter(child => child !== false && child !== undefined));
  return element;
}

/** An element with plain text ends at the first line end after `PIECE_CHARS` characters, in any case after `MAX_PIECE_CHARS`. */
const PIECE_CHARS = 4_000;
const MAX_PIECE_CHARS = 16_000;

/** Adds plain text in elements of limited length, so that a text without end is not laid out again whenever it grows. */
export function appendPlain(root: HTMLElement, text: string): void {
  let piece = root.lastElementChild;
  for (let at = 0; at < text.length;) {
    if (!piece?.classList.contains('plain')) root.append((piece = el('div', { class: 'plain' })));
    const length = piece.textContent.length;
    const lineEnd = text.indexOf('\n', at + Math.max(0, PIECE_CHARS - length)) + 1;
    const limit = at + Math.max(1, MAX_PIECE_CHARS - length);
    const end = Math.min(text.length, limit, lineEnd || Infinity);
    const added = text.slice(at, end);
    if (piece.lastChild instanceof Text) piece.lastChild.appendData(added);
    else piece.append(added);
    if (end === lineEnd || end === limit) piece = null;
    at = end;
  }
}

/** Creates an SVG element with these attributes. */
export function svg(
  tag: 'svg' | 'circle',
  attributes: Readonly<Record<string, string>>,
  ...children: readonly SVGElement[]
): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A codicon, hidden from screen readers. */
export function icon(name: string, extra = ''): HTMLElement {
  return el('span', { class: `codicon codicon-${name} ${extra}`.trim(), aria: { hidden: 'true' } });
}

/** A small picture of an image, with its name for screen readers. */
export function thumbnail(src: string, alt: string): HTMLImageElement {
  const image = el('img', { class: 'thumbnail' });
  image.alt = alt;
  image.src = src;
  return image;
}

export interface ButtonProps extends Props {
  readonly label?: string;
  readonly icon?: string;
  readonly onClick: (event: MouseEvent) => void;
}

/** A button with an icon, a label, or both. One without a visible label needs `aria.label`. */
export function button(props: ButtonProps): HTMLButtonElement {
  const { label, icon: name } = props;
  const element = el(
    'button',
    props,
    name !== undefined && icon(name),
    label !== undefined && el('span', {}, label),
  );
  element.type = 'button';
  return element;
}

/** Copies a text, and says so. */
export function copyButton(text: string, label: string): HTMLButtonElement {
  const copy = button({
    class: 'icon-button copy',
    icon: 'copy',
    title: label,
    aria: { label },
    data: { action: 'copy' },
    onClick: () => {
      void navigator.clipboard.writeText(text).then(() => {
        copy.replaceChildren(icon('check'));
        copy.title = l10n.t('Copied');
        copy.setAttribute('aria-label', l10n.t('Copied'));
      });
    },
  });
  return copy;
}
