import { safeName, safeText } from '../../base/safeName.ts';
import { listed, plural } from '../../base/phrases.ts';
import type { LeftOutReason } from '../../hold/external/gathered.ts';
import type { Preview } from '../../hold/preview/preview.ts';
import type { Collected } from '../../sandbox/agentView/collected.ts';
import type { Folders } from '../../sandbox/view/pathNames.ts';
import type { OwnPreviews } from '../ownPreviews.ts';
import { statusText } from '../tools/status.ts';
import { fileLine, filesOf } from './fileWords.ts';

/** The most ignored files and folders that `REDLINE.md` names. */
const MAX_LISTED = 20;
/** Why something is not proposed, for the agent. */
const WORDS: Partial<Record<LeftOutReason, string>> = {
  tooLarge: 'larger than 5 MB',
  notAFile: 'not a file',
  path: 'not a name that can be used',
  worktree: 'a worktree, which stays in this view; merge its branch here, and what it changed is proposed',
};

/** All that an agent is told besides its previews. */
export interface ViewNews extends Omit<Collected, 'effects' | 'settings'> {
  readonly copies: readonly Folders[];
  /** Files that could not yet be made as the user has decided. */
  readonly behind: readonly string[];
  /** Pending previews of other terminals of the agent. */
  readonly others: readonly Preview[];
}

/** The text of `REDLINE.md` in a view. */
export function statusOf(
  previews: OwnPreviews,
  {
    commits,
    lostGit,
    isTooMuch,
    busy,
    bulk,
    ignored,
    offered,
    notes: collected,
    leftOut,
    behind,
    copies,
    others,
  }: ViewNews,
): string {
  const notes = [
    ...copies.map(({ root, copy }) => `This is a copy: ${safeName(copy)} stands for ${safeName(root)}.`),
    ...collected,
    ...(isTooMuch
      ? [
          `You have changed more files than can be reviewed at once (2,000 files or 50 MB). ${bulk.length > 0 ? `Of ${listed(bulk)}, nothing` : 'None of it'} is proposed until there are fewer.`,
        ]
      : []),
    ...(commits > 0
      ? [
          `${plural(commits, 'commit')} of yours ${commits === 1 ? 'stays' : 'stay'} in this view. What they contain is proposed; the user commits it.`,
        ]
      : []),
    ...(lostGit ? ['You have removed .git in this view. The repository of the user is as it was.'] : []),
    ...others.map(
      preview => `Pending in another terminal of yours, and not in this view: ${filesOf(preview)}.`,
    ),
    ...(ignored.length > 0
      ? [`Git ignores these, so they stay in this view: ${listed(ignored.slice(0, MAX_LISTED))}.`]
      : []),
    ...(offered.length > 0
      ? [`Git ignores these, and they are proposed when you end: ${listed(offered)}.`]
      : []),
    ...behind.map(
      path =>
        `Not yet as the user decided, since it cannot be read or written, perhaps because a program has it open: ${safeName(path)}.`,
    ),
    ...busy.map(path => `Not proposed yet, since it is still being written: ${safeName(path)}.`),
    ...leftOut.map(
      ({ path, why, detail }) =>
        `Not proposed: ${safeName(path)} (${safeText(detail ?? WORDS[why] ?? why)}).`,
    ),
  ];
  return [
    '# What became of your changes',
    '',
    'You work in a view of the workspace. What you write here is proposed to the user, and nothing is on disk until the user',
    'applies it. A refusal is an answer, not an error. Files here change when the user decides: read them again before you edit.',
    '',
    statusText(previews, fileLine),
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
  ].join('\n');
}
