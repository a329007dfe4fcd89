import * as z from 'zod/mini';

/** Commands of the buttons below a failed answer and a notice. */
export const chatActions = [
  ...['showLog', 'setApiKey', 'selectModel', 'agents.connect', 'manageTrust'],
] as const;
const buttonName = z.enum([...chatActions, 'continue']);
export type ChatAction = z.infer<typeof buttonName>;
/** The most characters of a call's input, and of its result, that are shown. */
export const MAX_SHOWN_CHARS = 6_000;
export const action = z.enum(['apply', 'discard']);
export const previewId = z.string().check(z.regex(/^p[1-9]\d*$/));
export const line = z.int().check(z.minimum(1));

/** How many lines are added and removed; not exact for texts that are too different to compare them line by line. */
export const lineStat = z.object({ added: z.int(), removed: z.int(), exact: z.boolean() });
export type LineStat = z.infer<typeof lineStat>;
/** A text; if this is only its beginning, with the length of the whole in characters. */
const shownText = z.object({ text: z.string(), length: z.optional(z.int()) });
export type ShownText = z.infer<typeof shownText>;
const fileRow = z.object({
  path: z.string(),
  /** The old path of a rename. */
  from: z.optional(z.string()),
  change: z.enum(['modify', 'create', 'delete', 'rename']),
  /** Left out while unknown. */
  stat: z.optional(lineStat),
});
export type FileRow = z.infer<typeof fileRow>;

export const key = z.string();
const actor = z.enum(['human', 'model', 'extension']);
/** `PreviewProblem`: of long lists the first names, and how many more there are. */
const problem = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('conflicts'),
    files: z.array(z.object({ path: z.string(), count: z.int() })),
    more: z.optional(z.int()),
  }),
  z.object({ kind: z.literal('stale'), paths: z.array(z.string()), more: z.optional(z.int()) }),
  z.object({ kind: z.literal('failed'), error: z.string(), isPartial: z.optional(z.literal(true)) }),
]);
export type CardProblem = z.infer<typeof problem>;
/** `PreviewOutcome`. All texts in it are foreign, and their invisible characters escaped. */
const cardState = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('pending'),
    problem: z.optional(problem),
  }),
  z.object({ kind: z.literal('applying'), action }),
  z.object({
    kind: z.enum(['applied', 'undone', 'discarded']),
    actor,
    /** The agent of another program that resolved its own preview, such as `Claude Code 2.1.0`. */
    agent: z.optional(z.string()),
    reason: z.optional(z.string()),
    /** How its command ended. */
    run: z.optional(
      z.object({
        exitCode: z.optional(z.int()),
        seconds: z.number(),
        endedBy: z.optional(z.enum(['timeLimit', 'user'])),
        missing: z.optional(z.readonly(z.array(z.string()))),
      }),
    ),
  }),
  /** It was applied, and returned an error. */
  z.object({ kind: z.literal('failed'), error: z.string() }),
  z.object({ kind: z.literal('expired'), reason: z.optional(z.string()), wasInterrupted: z.boolean() }),
]);
export type CardState = z.infer<typeof cardState>;
/** Action that an outcome offers: redo undoes the preview that undid it. */
const remedy = z.object({ type: z.enum(['undo', 'redo', 'reopen']), id: previewId });
/** A hunk or file that was resolved separately. */
const partRow = z.object({
  id: previewId,
  /** The name of its file; left out for the hunks that were not split off. */
  file: z.optional(z.string()),
  /** Left out if it is a whole file. */
  hunk: z.optional(z.int()),
  /** The number of the hunks that were not split off. */
  others: z.optional(z.int()),
  state: cardState,
  /** It was discarded, and a pending preview proposes it again; once that preview is resolved, `state` is its state. */
  isReopened: z.optional(z.boolean()),
  remedy: z.optional(remedy),
});
export type PartRow = z.infer<typeof partRow>;
const hunkCounts = z.object({ applied: z.int(), discarded: z.int(), undone: z.int(), left: z.int() });
export type HunkCounts = z.infer<typeof hunkCounts>;
/** `CheckMark`: the name is foreign text, and its invisible characters escaped. */
export const checkRow = z.object({
  name: z.string(),
  state: z.enum([
    ...['running', 'notTested', 'passed', 'asBefore', 'changedFiles'],
    ...['failed', 'timedOut', 'stopped', 'notRun'],
  ] as const),
  failures: z.optional(z.int()),
  changed: z.optional(z.object({ first: z.array(z.string()), count: z.int() })),
  isCurrent: z.boolean(),
  seconds: z.number(),
  problems: z.int(),
  isFlaky: z.boolean(),
  resultId: z.optional(z.string()),
});
export type CheckRow = z.infer<typeof checkRow>;
/** Why the model recommends something or, once it is decided, recommended it. */
const advice = z.object({
  action,
  reason: z.string(),
  isOfSet: z.optional(z.boolean()),
  isPast: z.optional(z.boolean()),
  isUnread: z.optional(z.boolean()),
});
export type Advice = z.infer<typeof advice>;
const previewItem = z.object({
  kind: z.literal('preview'),
  key,
  id: previewId,
  revision: z.int(),
  label: z.string(),
  /** The agent of another program that proposed it. */
  agent: z.optional(z.string()),
  /** The verb on its Apply button. */
  face: z.enum(['change', 'create', 'delete', 'rename', 'run', 'call', 'approve']),
  files: z.array(fileRow),
  /** How many files are not listed. */
  moreFiles: z.int(),
  /** Its producer's note, while it is open. */
  note: z.optional(z.string()),
  /** The sum over all files, if there are several and it is known. */
  stat: z.optional(lineStat),
  state: cardState,
  advice: z.optional(advice),
  isReopened: z.optional(z.boolean()),
  /** Output of the preview's command, or its result. */
  output: z.optional(z.string()),
  remedy: z.optional(remedy),
  /** Its hunks and files that were resolved separately, the rest once that is resolved too, and counts of hunks. */
  parts: z.optional(
    z.object({
      rows: z.array(partRow),
      counts: hunkCounts,
    }),
  ),
  /** Place where its command runs or ran. */
  runs: z.optional(z.enum(['sandbox', 'copy', 'disk'])),
  /** Results of the checks on it, while it is pending. */
  checks: z.optional(z.array(checkRow)),
  /** There are checks, and none has a result that is current. */
  canCheck: z.optional(z.boolean()),
  /** Risks to know before deciding, a sentence each. */
  risks: z.optional(z.array(z.string())),
  /** Its command is running and can be stopped. */
  canStop: z.boolean(),
  /** The plan, as Markdown, while it waits; unfolded at first if the user edited it, since the answer above shows another one. */
  plan: z.optional(z.object({ text: z.string(), isUnfolded: z.boolean() })),
});
export type PreviewItem = z.infer<typeof previewItem>;
const outcome = [
  'pending',
  'applying',
  'applied',
  'mixed',
  'undone',
  'discarded',
  'failed',
  'expired',
] as const;
/** A file of a turn, and the outcome of its change. */
const turnRow = z.object({
  ...fileRow.shape,
  /** The preview whose diff shows it. */
  id: previewId,
  state: z.enum([...outcome, 'stale', 'conflicts']),
  /** Its hunks, counted by outcome, if the outcomes differ. */
  counts: z.optional(hunkCounts),
  /** Why it was decided so, and why it failed. */
  reason: z.optional(z.string()),
  error: z.optional(z.string()),
});
export type TurnRow = z.infer<typeof turnRow>;
/** The file changes that one turn, or another agent, proposed. */
const turnItem = z.object({
  kind: z.literal('turn'),
  key,
  /** The agent of another program that proposed it, and the name that it gave. */
  agent: z.optional(z.string()),
  title: z.optional(z.string()),
  state: z.enum(outcome),
  /** The actor who decided all of it, and the reason, if they are the same for all. */
  by: z.optional(z.object({ actor, agent: z.optional(z.string()) })),
  reason: z.optional(z.string()),
  /** The first changes of files: a row for each, as several may change one file. */
  rows: z.array(turnRow),
  /** How many changes are not listed. */
  more: z.int(),
  files: z.int(),
  /** Counts of all its hunks. */
  counts: hunkCounts,
  stat: z.optional(lineStat),
  checks: z.optional(z.array(checkRow)),
  risks: z.optional(z.array(z.string())),
  advice: z.optional(z.array(advice)),
  /** All its previews; the open ones; the undoable ones, in the order in which they were applied. */
  ids: z.array(previewId),
  open: z.array(previewId),
  undo: z.array(previewId),
});
const resolveItem = z.object({
  kind: z.literal('resolve'),
  key,
  outcome: z.enum(['running', 'accept', 'discard', 'failed', 'recommendApply', 'recommendDiscard', 'submit']),
  /** Its subject: the English label, and the title in the user's language. */
  label: z.optional(z.string()),
  title: z.optional(z.string()),
  /** How many changes it was about, if several. */
  count: z.optional(z.int()),
  /** The tool that staged it. */
  source: z.optional(z.string()),
  actor,
  reason: z.optional(z.string()),
  detail: z.optional(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.enum(['finishedLater', 'interrupted', 'refused', 'late', 'partly']) }),
      z.object({ kind: z.literal('returnedError'), message: z.string() }),
      z.object({ kind: z.literal('notDone'), action, message: z.string() }),
    ]),
  ),
});

const toolItem = z.object({
  kind: z.literal('tool'),
  key,
  name: z.string(),
  summary: z.string(),
  status: z.enum(['running', 'done', 'failed', 'interrupted']),
  /** The file that it names, to open. */
  file: z.optional(z.object({ path: z.string(), line: z.optional(line) })),
  /** The progress that a running call reports, on one line. */
  progress: z.optional(z.string()),
  input: shownText,
  output: shownText,
});

/** One entry of the message list. A key identifies the same entry for the lifetime of the session. */
export const viewItem = z.discriminatedUnion('kind', [
  /**
   * Heading above the previews from elsewhere, followed by a second one if more are pending; or above a conversation whose
   * beginning is left out.
   */
  z.object({
    kind: z.literal('heading'),
    key,
    heading: z.discriminatedUnion('about', [
      z.object({ about: z.literal('elsewhere') }),
      z.object({ about: z.enum(['morePending', 'earlier']), count: z.int() }),
    ]),
  }),
  z.object({
    kind: z.literal('notice'),
    key,
    notice: z.discriminatedUnion('about', [
      /** The workspace is not trusted: its custom tools are not loaded. */
      z.object({ about: z.literal('withheldTools'), files: z.array(z.string()), isAll: z.boolean() }),
      /** A preview is left to the user. */
      z.object({ about: z.enum(['notDecided', 'keptFailing']), label: z.string() }),
      /** A revert has left this many changes in the files; the preview below undoes them. */
      z.object({ about: z.literal('stillApplied'), count: z.int() }),
      /** The window was closed or reloaded in the middle of a turn, which can go on from there as long as nothing has followed. */
      z.object({ about: z.literal('interrupted'), canContinue: z.boolean() }),
      z.object({ about: z.literal('other'), text: z.string() }),
    ]),
  }),
  z.object({
    kind: z.literal('user'),
    key,
    /** The node to revert to; left out if reverting is not possible. */
    node: z.optional(z.int()),
    text: z.string(),
    attachments: z.array(
      z.object({
        path: z.string(),
        startLine: z.optional(line),
        endLine: z.optional(line),
        /** Why it was not attached, or not as it was. */
        problem: z.optional(z.string()),
        /** The address of an image in the panel. */
        src: z.optional(z.string()),
      }),
    ),
    /** Its id in the queue, while it waits for its turn. */
    queued: z.optional(z.string()),
  }),
  /** The outcome of a local slash command, as Markdown. */
  z.object({ kind: z.literal('local'), key, text: z.string() }),
  z.object({
    kind: z.literal('assistant'),
    key,
    node: z.optional(z.int()),
    text: z.string(),
    /** The model's reasoning before it answered; empty if the server does not send it. */
    reasoning: z.string(),
    streaming: z.boolean(),
    /** Why it is not complete. */
    incomplete: z.optional(z.enum(['stopped', 'cutOff'])),
    /** It is the last answer, and its prompt can be sent again. */
    canRetry: z.boolean(),
  }),
  toolItem,
  /** Finished calls in a row. */
  z.object({ kind: z.literal('tools'), key, calls: z.array(toolItem) }),
  previewItem,
  resolveItem,
  turnItem,
  /** A failed answer; without a text, the model just did not answer. */
  z.object({
    kind: z.literal('error'),
    key,
    text: z.optional(z.string()),
    actions: z.array(buttonName),
  }),
  /** Earlier messages were replaced for the model by this text. */
  z.object({ kind: z.literal('summary'), key, node: z.optional(z.int()), text: z.string() }),
  /** The agent waits for the user to allow a host, or not. */
  z.object({ kind: z.literal('host'), key, id: z.int(), host: z.string(), url: z.string() }),
  /** The agent asks the user; `id` while it waits, `answer` later. */
  z.object({
    kind: z.literal('question'),
    key,
    id: z.optional(z.int()),
    text: z.string(),
    choices: z.array(z.string()),
    answer: z.optional(z.string()),
  }),
  /** A button that connects a model. */
  z.object({ kind: z.literal('connect'), key }),
]);
export type ViewItem = z.infer<typeof viewItem>;
export type ItemOf<Kind extends ViewItem['kind']> = Extract<ViewItem, { kind: Kind }>;
