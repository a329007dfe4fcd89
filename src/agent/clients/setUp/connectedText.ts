import { INSTRUCTIONS } from '../clientTools.ts';
import { jsonWith, SetUpRefusal } from './jsonConfig.ts';
import type { ConfigFile } from './knownAgents.ts';

const PARAGRAPH = /<!-- redline -->[^]*?<!-- \/redline -->/;

/**
 * The text of the file with everything that the agent needs to work through Redline.
 * @param path how a refusal names the file.
 * @param text its content; `null` if there is no such file.
 * @param bridge the absolute path of `redline-mcp`.
 * @throws SetUpRefusal if the file cannot be changed safely.
 */
export async function connectedText(
  file: ConfigFile,
  path: string,
  text: string | null,
  bridge: string,
): Promise<string> {
  switch (file.format) {
    case 'json':
      return jsonWith(path, text ?? '', file.entries(bridge));
    case 'whole': {
      const whole = file.text(bridge);
      const has = (line: string): boolean => (text ?? whole).split(/\r?\n/).includes(line);
      if (!whole.split('\n').every(has)) throw new SetUpRefusal(path);
      return text ?? whole;
    }
    case 'paragraph':
      return withParagraph(text ?? '');
  }
}

/** The text with the paragraph that tells an agent to work through Redline, at its end, or where an older one is. */
export function withParagraph(text: string): string {
  const newline = /\r\n|\r|\n/.exec(text)?.[0] ?? '\n';
  const paragraph = ['<!-- redline -->', INSTRUCTIONS, '<!-- /redline -->'].join(newline);
  if (PARAGRAPH.test(text)) return text.replace(PARAGRAPH, () => paragraph);
  const gap = text === '' ? '' : /[\r\n]$/.test(text) ? newline : newline + newline;
  return text + gap + paragraph + newline;
}

/** The text without that paragraph. */
export function withoutParagraph(text: string): string {
  const newline = '(?:\\r\\n|\\r|\\n)?';
  return text.replace(new RegExp(newline + PARAGRAPH.source + newline), '');
}
