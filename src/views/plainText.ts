/** The most characters of foreign text that a label shows. */
const MAX_CHARS = 200;

/** Foreign text (labels, reasons, errors) on one line of bearable length. */
export function oneLine(text: string, max = MAX_CHARS): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}

/** {@link oneLine} for places that would read `$(name)` as an icon. */
export function withoutIcons(text: string, max?: number): string {
  return oneLine(text, max).replaceAll('$(', '$ (');
}

/** Text for a notification, where VS Code would take `[text](command:…)` for a link that runs the command. */
export function inToast(text: string): string {
  return text.replace(/\](?=\()/g, '] ');
}

/** {@link oneLine} as markdown that shows exactly these characters: no emphasis, links, HTML or icons. */
export function asMarkdown(text: string, max?: number): string {
  return withoutIcons(text, max)
    .replace(/[\\`*_{}[\]()#+\-.!~|$]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
