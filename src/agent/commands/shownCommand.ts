/** Characters that are invisible, or change how the characters around them are shown. */
const HIDDEN =
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is shown
  /[\0-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;

/** The command with escapes such as `\x1b` and `\u202e` for characters that would hide something. Tabs and line feeds stay. */
export function shownCommand(command: string): string {
  return command.replace(HIDDEN, char => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same on one line, for labels. */
export function commandLabel(command: string, max = 120): string {
  const line = shownCommand(command).replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}
