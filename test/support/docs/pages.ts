import * as fs from 'node:fs';
import * as path from 'node:path';

/** The repository's root. */
export const root = path.resolve(import.meta.dirname, '../../..');
export const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8');

/** A fenced block of code. */
export interface Block {
  readonly page: string;
  /** That of the opening fence, counted from 1. */
  readonly line: number;
  /** What stands behind the fence; empty if nothing does. */
  readonly language: string;
  readonly code: string;
}

export interface Page {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  /** The page without its blocks and comments, which are empty lines. */
  readonly prose: string;
  readonly blocks: readonly Block[];
}

/** Parses a page of Markdown. @throws Error for a block that is not closed. */
export function parsePage(pagePath: string, text: string): Page {
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open: { line: number; language: string; indent: string; code: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^( *)```(.*)$/.exec(line);
    if (!open && fence) {
      const [, indent = '', language = ''] = fence;
      open = { line: index + 1, language: language.trim(), indent, code: [] };
    } else if (open && fence) {
      const { indent, code, ...rest } = open;
      const shown = code.map(each => (each.startsWith(indent) ? each.slice(indent.length) : each)).join('\n');
      blocks.push({ page: pagePath, ...rest, code: `${shown}\n` });
      open = undefined;
    } else if (open) open.code.push(line);
    prose.push(open || fence ? '' : line);
  }
  if (open) throw new Error(`${pagePath}:${open.line}: the block is not closed.`);
  const withoutComments = prose.join('\n').replace(/<!--[^]*?-->/g, comment => comment.replace(/[^\n]/g, ''));
  return { path: pagePath, prose: withoutComments, blocks };
}

/** The pages for users and engineers, and GitHub's forms, without the changelog, which names what was. */
export function documentPages(): readonly Page[] {
  const documents = fs.readdirSync(root).filter(file => file.endsWith('.md') && file !== 'CHANGELOG.md');
  return [
    ...documents,
    ...filesIn('docs', '.md'),
    ...filesIn('.github', '.md'),
    ...filesIn('.github', '.yml'),
  ].map(file => parsePage(file, read(file)));
}

/** All pages of the repository that link. */
export function linkingPages(): readonly Page[] {
  const others = [
    'CHANGELOG.md',
    ...['scripts', 'examples', 'test'].flatMap(folder => filesIn(folder, '.md')),
  ];
  return [...documentPages(), ...others.map(file => parsePage(file, read(file)))];
}

function filesIn(folder: string, ending: string): string[] {
  return fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith(ending) && !file.includes('fixtures'))
    .map(file => path.posix.join(folder, file.split(path.sep).join('/')));
}

/** The line of an offset in a text, counted from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
