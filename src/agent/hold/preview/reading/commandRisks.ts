import { beginningOf } from '../../../base/cutText.ts';
/** In characters; longer commands are not read to their end. */
const MAX_CHARS = 20_000;

/** An effect of a command that a person should know before it runs. */
export type CommandRisk = 'deletesFiles' | 'runsFromNetwork';

const DELETES = new Set([
  'rm',
  'rmdir',
  'unlink',
  'shred',
  'rimraf',
  'del',
  'erase',
  'rd',
  'remove-item',
  'ri',
]);
const LOADS = new Set(['curl', 'wget', 'iwr', 'irm', 'invoke-webrequest', 'invoke-restmethod']);
const RUNS = new Set(
  'sh bash zsh dash ksh fish pwsh powershell cmd eval source . iex invoke-expression python python3 node perl ruby php'.split(
    ' ',
  ),
);
/** Words that only modify how the command after them runs. */
const BEFORE = new Set([
  'sudo',
  'env',
  'xargs',
  'nohup',
  'time',
  'command',
  'exec',
  'npx',
  'then',
  'do',
  'else',
  '!',
]);
const GIT_DELETES =
  /^git (?:-\S+ )*(?:clean|restore|reset (?:.* )?--hard|checkout (?:.* )?(?:--|-f|\.)|stash (?:drop|clear))(?: |$)/;

/**
 * Deletions and programs from the network that the text of a command names. It is read word by word, in linear time, and not
 * understood: a command that hides its effect is not found.
 */
export function commandRisks(command: string): readonly CommandRisk[] {
  const found = new Set<CommandRisk>();
  let before = { name: '', ends: '' };
  // Each simple command, with the separator before it.
  for (const [, text = '', ends = ''] of beginningOf(command, MAX_CHARS).matchAll(
    /([^;&|(){}\n`]*)([;&|(){}\n`]?)/g,
  )) {
    const words = wordsOf(text);
    const name = programName(words[0] ?? '');
    const isPiped = before.ends === '|' && LOADS.has(before.name) && RUNS.has(name);
    const isGiven = ['(', '`'].includes(before.ends) && RUNS.has(before.name) && LOADS.has(name);
    if (isPiped || isGiven) found.add('runsFromNetwork');
    if (
      DELETES.has(name) ||
      GIT_DELETES.test(words.join(' ')) ||
      (name === 'find' && words.includes('-delete'))
    )
      found.add('deletesFiles');
    // `a || b` has an empty command between its bars.
    before = { name, ends };
  }
  return [...found].sort();
}

/** The words of a simple command from its name on; for `sh -c "rm x"`, those of the command that the shell runs. */
function wordsOf(text: string): string[] {
  let words = text.trim().split(/\s+/);
  for (;;) {
    const [first = '', ...rest] = words;
    const isBefore =
      BEFORE.has(programName(first)) || /^\w+=/.test(first) || (words.length > 1 && first.startsWith('-'));
    const inner = RUNS.has(programName(first)) ? rest.findIndex(word => /^-\w*c$/i.test(word)) : -1;
    if (inner >= 0 && programName(rest[inner + 1] ?? '') !== '') words = rest.slice(inner + 1);
    else if (isBefore && rest.length > 0) words = rest;
    else return words;
  }
}

/** `/bin/"RM"` is `rm`. */
function programName(word: string): string {
  return (
    word
      .replace(/["'\\$]/g, '')
      .split('/')
      .at(-1) ?? ''
  )
    .toLowerCase()
    .replace(/\.exe$/, '');
}
