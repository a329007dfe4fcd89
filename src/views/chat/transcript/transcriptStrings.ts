import type { RetryCode } from '../../../agent/model/chatProvider.ts';
import type { FileChangeKind } from '../../../agent/preview/fileChange.ts';
import type { ResolveAction, Actor } from '../../../agent/preview/preview.ts';
import { countText, type CountText } from '../../../agent/base/countText.ts';
import { callTexts, type CallTexts } from '../callTexts.ts';
import type { PlanPart } from '../planPart.ts';
import type { ChatAction } from '../protocol.ts';
import type { Localiser } from '../../../agent/base/localiser.ts';

/** The texts that the host puts into items and the status. Their users fill in `{0}` and `{1}`. */
export interface TranscriptStrings {
  /** Whether these texts are in English. */
  readonly isEnglish: boolean;
  readonly accept: string;
  readonly discard: string;
  readonly failed: string;
  readonly recommendsApply: string;
  readonly recommendsDiscard: string;
  readonly submits: string;
  readonly resolving: string;
  readonly pendingAction: string;
  readonly noReason: string;
  readonly who: Readonly<Record<Actor, string>>;
  readonly sourceAndWho: string;
  readonly proposedBy: string;
  readonly applied: Readonly<Record<Actor, string>>;
  readonly appliedByAgent: string;
  readonly discardedByAgent: string;
  readonly discarded: Readonly<Record<Actor, string>>;
  readonly undone: Readonly<Record<Actor, string>>;
  readonly reopened: string;
  readonly resolvedAs: string;
  readonly conflicts: string;
  readonly conflictsIn: string;
  readonly parts: Readonly<Record<'hunk' | 'rest' | 'applied' | 'discarded' | 'undone' | 'left', string>>;
  readonly calls: CallTexts;
  readonly plan: Omit<PlanPart, 'text' | 'isUnfolded'>;
  readonly stillApplied: CountText;
  readonly reviewUndo: string;
  readonly applying: Readonly<Record<ResolveAction, string>>;
  readonly returnedError: string;
  readonly finishedLater: string;
  readonly returned: string;
  readonly notDone: Readonly<Record<ResolveAction, string>>;
  readonly expired: string;
  readonly expiredBecause: string;
  readonly modelRecommends: Readonly<Record<ResolveAction, string>>;
  readonly stale: string;
  readonly lastError: string;
  readonly moreFiles: string;
  readonly andMore: string;
  readonly change: Readonly<Record<FileChangeKind, string>>;
  readonly alsoPending: string;
  readonly morePending: string;
  readonly earlier: string;
  readonly notDecided: string;
  readonly keptFailing: string;
  readonly queued: string;
  readonly stopped: string;
  readonly cutOff: string;
  readonly failedAnswer: string;
  readonly toolStatus: Readonly<Record<'running' | 'done' | 'failed', string>>;
  readonly textCut: string;
  readonly actions: Readonly<Record<ChatAction, string>>;
  readonly previewActions: Readonly<Record<'apply' | 'discard' | 'open', string>>;
  readonly pending: string;
  readonly changes: CountText;
  readonly files: CountText;
  readonly filesChanged: CountText;
  readonly working: string;
  readonly runningTool: string;
  readonly waiting: string;
  /** Example prompts for a model. */
  readonly examples: readonly string[];
  readonly planning: string;
  readonly connectModel: string;
  readonly withheldTools: string;
  readonly attachmentProblem: string;
  readonly tokens: string;
  readonly sessionTokens: string;
  readonly lastTokens: string;
  readonly context: string;
  readonly contextCounted: string;
  readonly contextEstimated: string;
  readonly contextAssumed: string;
  readonly summary: string;
  readonly summarizing: string;
  readonly retrying: Readonly<Record<RetryCode, string>>;
  readonly instructions: string;
  readonly cutInstructions: string;
}

export function transcriptStrings(l10n: Localiser): TranscriptStrings {
  const count = (forms: string): CountText => countText(forms, l10n);
  return {
    isEnglish: l10n.t('en') === 'en',
    accept: l10n.t('Accept: {0}'),
    discard: l10n.t('Discard: {0}'),
    failed: l10n.t('Failed: {0}'),
    recommendsApply: l10n.t('Recommends Apply: {0}'),
    recommendsDiscard: l10n.t('Recommends Discard: {0}'),
    submits: l10n.t('Submits for approval: {0}'),
    resolving: l10n.t('Resolving: {0}'),
    pendingAction: l10n.t('pending action'),
    noReason: l10n.t('No reason provided'),
    who: {
      human: l10n.t('by you'),
      model: l10n.t('by the model'),
      extension: l10n.t('by another extension'),
    },
    sourceAndWho: l10n.t('{0}, {1}'),
    proposedBy: l10n.t('Proposed by {0}'),
    appliedByAgent: l10n.t('Applied by {0}'),
    discardedByAgent: l10n.t('Discarded by {0}'),
    applied: {
      human: l10n.t('Applied by you'),
      model: l10n.t('Applied by the model'),
      extension: l10n.t('Applied by another extension'),
    },
    discarded: {
      human: l10n.t('Discarded by you'),
      model: l10n.t('Discarded by the model'),
      extension: l10n.t('Discarded by another extension'),
    },
    undone: {
      human: l10n.t('Undone by you'),
      model: l10n.t('Undone by the model'),
      extension: l10n.t('Undone by another extension'),
    },
    reopened: l10n.t('{0}, reopened as {1}'),
    resolvedAs: l10n.t('{0}, as {1}'),
    conflicts: l10n.t('Conflicts to resolve in the proposal: {0}.'),
    conflictsIn: l10n.t('{0} in {1}'),
    parts: {
      hunk: l10n.t('{1}, hunk {0}'),
      rest: l10n.t('The rest'),
      applied: l10n.t('{0} applied'),
      discarded: l10n.t('{0} discarded'),
      undone: l10n.t('{0} undone'),
      left: l10n.t('{0} left'),
    },
    calls: callTexts(l10n),
    plan: {
      title: l10n.t('Plan'),
      approve: l10n.t('Approve'),
      sendBack: l10n.t('Send Back…'),
      approveLabel: l10n.t('Approve {0}'),
      sendBackLabel: l10n.t('Send back {0}'),
      question: l10n.t('What should change?'),
      edit: l10n.t('Edit'),
    },
    stillApplied: count(
      l10n.t('1 applied change is still in your files.|{0} applied changes are still in your files.'),
    ),
    reviewUndo: l10n.t('Review Undo'),
    applying: { apply: l10n.t('Applying…'), discard: l10n.t('Discarding…') },
    returnedError: l10n.t('Applied, and returned an error'),
    finishedLater: l10n.t('It finished after the call was interrupted.'),
    returned: l10n.t('It was applied, and returned an error: {0}'),
    notDone: {
      apply: l10n.t('It failed, and was not applied: {0}'),
      discard: l10n.t('It failed, and was not discarded: {0}'),
    },
    expired: l10n.t('Expired: this action can no longer run'),
    expiredBecause: l10n.t('Expired: {0}'),
    modelRecommends: {
      apply: l10n.t('The model recommends Apply: {0}'),
      discard: l10n.t('The model recommends Discard: {0}'),
    },
    stale: l10n.t('Stale: {0} changed after this was proposed.'),
    lastError: l10n.t('The last attempt failed: {0}'),
    moreFiles: l10n.t('and {0} more'),
    andMore: l10n.t('{0} and {1} more'),
    change: {
      modify: l10n.t('modified'),
      create: l10n.t('new file'),
      delete: l10n.t('deleted'),
      rename: l10n.t('renamed'),
    },
    alsoPending: l10n.t('Also pending'),
    morePending: l10n.t('and {0} more pending'),
    earlier: l10n.t('Earlier entries not shown: {0}'),
    notDecided: l10n.t("The model didn't decide on {0}. It's up to you."),
    keptFailing: l10n.t("Applying {0} kept failing. It's up to you."),
    queued: l10n.t('Queued'),
    stopped: l10n.t('Stopped.'),
    cutOff: l10n.t("The answer was cut off: it reached the model's length limit."),
    failedAnswer: l10n.t('The model did not answer.'),
    toolStatus: { running: l10n.t('running'), done: l10n.t('done'), failed: l10n.t('failed') },
    textCut: l10n.t('Truncated: {0} of {1} characters shown'),
    actions: {
      showLog: l10n.t('Show Log'),
      setApiKey: l10n.t('Set API Key'),
      selectModel: l10n.t('Select Model'),
      continue: l10n.t('Try Again'),
      manageTrust: l10n.t('Manage Workspace Trust'),
    },
    previewActions: { apply: l10n.t('Apply'), discard: l10n.t('Discard'), open: l10n.t('Open') },
    pending: l10n.t('{0} · {1}'),
    changes: count(l10n.t('1 change|{0} changes')),
    files: count(l10n.t('1 file|{0} files')),
    filesChanged: count(l10n.t('1 file changed|{0} files changed')),
    working: l10n.t('Working…'),
    runningTool: l10n.t('Running {0}…'),
    waiting: l10n.t('Waiting for your review'),
    examples: [l10n.t('What does this workspace do?'), l10n.t('Find a bug and propose a fix')],
    planning: l10n.t('Plan mode: the model only reads until you approve its plan.'),
    connectModel: l10n.t('Connect a Model'),
    withheldTools: l10n.t('This workspace is not trusted: its custom tools are not loaded ({0}).'),
    attachmentProblem: l10n.t('{0}: {1}'),
    tokens: l10n.t('{0} tokens'),
    sessionTokens: l10n.t('Tokens in this session: {0} in, {1} out.'),
    lastTokens: l10n.t('Last request: {0} in, {1} out.'),
    context: l10n.t('Context window: {0} of {1} tokens ({2}%).'),
    contextCounted: l10n.t('Counted by the server for the last request and its answer.'),
    contextEstimated: l10n.t('An estimate for the next request: the server has not counted it.'),
    contextAssumed: l10n.t(
      'The size of the window is assumed, because the server does not report it. Set it in redline.openai.contextWindow.',
    ),
    summary: l10n.t('Earlier messages were summarized for the model'),
    summarizing: l10n.t('Summarizing earlier messages…'),
    retrying: {
      rateLimited: l10n.t('Rate limited, trying again in {0} s'),
      server: l10n.t('The server is busy, trying again in {0} s'),
    },
    instructions: l10n.t('Instructions: {0}'),
    cutInstructions: l10n.t('{0} (beginning only)'),
  };
}
