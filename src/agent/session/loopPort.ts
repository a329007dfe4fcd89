import { detailOf } from '../base/errors.ts';
import type { ChatProvider, ChatRequest } from './model/chatProvider.ts';
import type { ToolCall, ToolResultMessage } from './model/messages.ts';
import type { Preview } from '../hold/preview/preview.ts';
import { executeToolCall } from './tools/loadedSpecs.ts';
import { amendedBy } from './forcing/previewIds.ts';
import { tellEnds } from './tools/command/tellEnds.ts';
import { callableTools } from './tools/registry.ts';
import { hasOpenSteps } from './tools/todo.ts';
import { planModeMessage } from './planMode.ts';
import type { LoopPort } from './loop.ts';
import type { Requests } from './request.ts';
import type { RevertQueue } from './revertQueue.ts';
import { stageIn } from './staging.ts';
import type { SessionContext } from './sessionOptions.ts';

/** The reason recorded for an apply that the user's settings let the model carry out at once. */
const GRANTED = 'Your settings let the agent run commands in the isolated sandbox.';

/** The parts of a session that its loop works with. */
export interface LoopParts extends SessionContext {
  readonly requests: Requests;
  readonly reverts: RevertQueue;
}

/** The loop's view of a session during one run. */
export function loopPortFor(parts: LoopParts, provider: ChatProvider, signal: AbortSignal): LoopPort {
  const { requests, choices, reverts, tools, logger, append, emit } = parts;
  let isEnding = false;
  /** Whether the model was asked for its votes when it would have ended its turn, and has done nothing but vote since. */
  let isAsked = false;
  let hasOnlyVoted = false;
  const prepare = (): Promise<void> | undefined => requests.prepare(provider, signal);
  const nextRequest = (): ChatRequest => {
    isAsked = isEnding || (isAsked && hasOnlyVoted && parts.inbox.messages.length === 0);
    const offer = requests.begin(provider, isEnding);
    isEnding = false;
    appendInbox(parts);
    return requests.build(provider, offer);
  };
  return {
    l10n: parts.l10n,
    provider: requests.during(provider),
    prepare: () => {
      const { commands, conversation, inbox } = parts;
      if (commands) tellEnds(commands.background, conversation(), inbox);
      return prepare();
    },
    judge: () => parts.choices.directives.judge(),
    nextRequest,
    retryRequest: failure => requests.retry(provider, failure, signal),
    append,
    execute: async call => {
      const result = await runTool(parts, call, signal);
      const amended = result.isError ? amendedBy(call) : undefined;
      if (amended !== undefined) choices.resolver.noteUnamended(amended);
      return result;
    },
    isReadOnly: call => tools.get(call.name)?.readOnly === true,
    settle: (end, answer) => {
      requests.noteAnswer(provider, answer);
      choices.settle(end, answer);
      hasOnlyVoted = answer.toolCalls.length > 0 && answer.toolCalls.every(({ name }) => name === 'resolve');
    },
    mustAskAgain: () => (isEnding = !parts.planMode() && choices.directives.isForcing),
    isOver: results =>
      choices.isOver(results, isAsked && !parts.planMode(), () =>
        hasOpenSteps(parts.conversation().tree.messages),
      ),
    betweenTurns: end => (reverts.isWaiting ? reverts.drain({ stopped: end === 'aborted' }) : undefined),
    emit,
    report: failure => logger.error(`Request to ${provider.id} failed (${failure.code}): ${failure.detail}`),
  };
}

/** Appends the messages that the next request is to tell the model. */
export function appendInbox({ conversation, planMode, settings, inbox, choices, append }: LoopParts): void {
  const mode = planModeMessage(conversation().tree, planMode());
  if (mode) append(mode);
  const hold = planMode() || settings().modelAuthority === 'none';
  const joins = settings().forcing === 'off';
  for (const message of inbox.takeMessages(hold, id => choices.directives.asks(id), joins)) append(message);
}

/** Runs one call of the model in the open conversation. Always settles with its one result. */
async function runTool(
  parts: LoopParts,
  toolCall: ToolCall,
  signal: AbortSignal,
): Promise<ToolResultMessage> {
  const { workspace, logger, settings, requests, choices, reverts, keepImage, emit } = parts;
  const call = parts.conversation().callRefOf(toolCall);
  const overlay = parts.overlay.of(call.sessionId);
  const { modelAuthority: authority } = settings();
  const userReviews = authority === 'none';
  const late: Preview[] = [];
  const stale: string[] = [];
  const result = await executeToolCall(toolCall, {
    tools: callableTools(requests.tools(), { planMode: parts.planMode(), authority }),
    logger,
    unavailable: async name => {
      if (!parts.tools.get(name)) return undefined;
      const { unavailableText } = await import('../hold/preview/resolve/refusedVoteTexts.ts');
      return unavailableText(name, parts.planMode());
    },
    describeStaged: async staged => {
      const alone = userReviews ? [] : await usersAlone(parts, staged);
      const { stagedText } = await import('../hold/preview/resolve/waitTexts.ts');
      return stagedText(staged, { userReviews, usersAlone: alone });
    },
    stage: action => stageIn(parts, action, { call, asksModel: true }),
    context: {
      signal,
      workspace: overlay.on(workspace),
      pending: overlay,
      carryOut: ({ id }, isGranted) => {
        const vote = { action: 'apply', reason: GRANTED, actor: 'model' } as const;
        return parts.invoker.resolve({ ...vote, id, call, isGranted, isPlanning: parts.planMode, signal });
      },
      noteShown: choices.resolver.noteShown,
      own: async () => (await import('./modelPreviews.ts')).modelPreviews(parts, call, id => stale.push(id)),
      resolve: async vote => {
        const resolved = await choices.resolve({ ...vote, call, noteStale: id => stale.push(id) });
        if (resolved.kind === 'already') late.push(resolved.preview);
        if (resolved.kind === 'recommended') parts.conversation().joinReview(resolved.preview.id);
        return resolved;
      },
      meant: ids => choices.resolver.meant(ids),
      unvoted: () => choices.directives.unvoted,
      revert: request => void reverts.request({ ...request, actor: 'model' }),
      showImage: async bytes => keepImage?.(bytes, call.sessionId),
      onUpdate: progress => emit({ type: 'tool_update', call: toolCall, progress }),
    },
  });
  const tells = signal.aborted ? [] : parts.inbox.noteTold(result.isError ? [] : late, stale);
  return { ...result, ...(tells.length > 0 ? { tells } : {}) };
}

/** The previews that the model cannot apply in any mode. */
async function usersAlone(
  { invoker, logger }: LoopParts,
  staged: readonly Preview[],
): Promise<readonly Preview[]> {
  try {
    const alone = await Promise.all(staged.map(preview => invoker.isUsersAlone(preview)));
    return staged.filter((_, index) => alone[index]);
  } catch (error) {
    logger.error(`Whether files are protected is not known: ${detailOf(error)}`);
    return [];
  }
}
