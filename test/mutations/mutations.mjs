import { otherHistories } from './otherHistories.mjs';

/**
 * Faults that a change of ours could bring in, at least one for each rule. The random histories must find every one of them.
 * Each replaces a piece of source that must occur exactly once.
 *
 * @typedef {{ from: string, to: string }} Replacement
 * @type {readonly (Replacement & { rule: string, file: string, and?: Replacement[], runs?: number, histories?: string, test?: string })[]} files are relative to
 *   `src/agent`; `and` replaces more of the same file; `runs` is how many histories a rare one needs; `histories` is the file in
 *   `test/histories` that makes and plays them, if it is another; `test` is the file below `test/unit` that finds it in their stead
 */
export const mutations = [
  ...otherHistories,
  {
    rule: 'I1: one resolver at a time',
    file: 'hold/preview/resolve/invoker.ts',
    from: 'for (const { id } of group) this.#store.beginResolving(id, request.action, request.actor);',
    to: '',
  },
  {
    rule: 'I2: what is written is what was shown',
    file: 'hold/preview/commit/commitChanges.ts',
    from: 'after && isText(after) ? bytesOfSide(after) : null',
    to: 'after && isText(after) ? bytesOfSide({ ...after, text: after.text + " " }) : null',
  },
  {
    rule: 'I2: every change of what is shown is a new revision',
    file: 'hold/preview/previewStore.ts',
    from: "type: 'revised', id, revision: revision + 1, changes: withKept(changes ?? [], next) }",
    to: "type: 'revised', id, revision: revision + 2, changes: next }",
  },
  {
    rule: 'a vote is for the revision that was seen',
    file: 'hold/preview/resolve/refusals.ts',
    from: 'seen !== preview.revision)',
    to: 'seen > preview.revision)',
  },
  {
    rule: 'nothing is written over a text that no one has seen',
    file: 'hold/preview/commit/commitChanges.ts',
    from: 'const expected = before?.hash ?? null;',
    to: 'const expected = hashOf(await heldReader(files as CommitFiles, [step])(step));',
    and: [
      {
        from: 'if (stale.length > 0) throw new StalePreviewError',
        to: 'if (stale.length > 99) throw new StalePreviewError',
      },
    ],
  },
  {
    rule: 'a failed apply is rolled back',
    file: 'hold/preview/commit/commitChanges.ts',
    from: 'const back = await rollBack(files, [...begun], rollback, blobs);',
    to: 'const back = await rollBack(files, [], rollback, blobs);',
  },
  {
    rule: 'I3: an id is used once in a storage, whichever window asks',
    file: 'hold/preview/previewStore.ts',
    from: 'this.#numbers = numbers;',
    to: 'this.#numbers = countedNumbers();',
  },
  {
    rule: 'nothing is written before its journal is on disk',
    file: 'hold/preview/commit/commitChanges.ts',
    from: 'await writeJournal(rollback);',
    to: 'void writeJournal(rollback).catch(() => undefined);',
  },
  {
    rule: 'an entry of the log that cannot be written waits',
    file: 'hold/preview/previewStore.ts',
    from: 'stored && this.#queue.append(stored)',
    to: 'stored && this.#log.append(stored).catch(() => undefined)',
  },
  {
    rule: 'after a crash, a complete apply is finished',
    file: 'hold/preview/commit/recovery.ts',
    from: "if (pathsWith('after').length === steps.length && (",
    to: 'if (steps.length > 99 && (',
    and: [
      {
        from: "const mayBeWhole = pathsWith('before', 'torn', 'lacking').length === 0 &&",
        to: 'const mayBeWhole = false &&',
      },
    ],
  },
  {
    rule: 'after a crash, a partial apply is rolled back',
    file: 'hold/preview/commit/recovery.ts',
    from: 'await rollBack(files, own, rollback, store.blobs);',
    to: 'await rollBack(files, [], rollback, store.blobs);',
  },
  {
    rule: 'after a crash, what was typed since is left alone',
    file: 'hold/preview/commit/rollback.ts',
    from: '!(await mayBeTorn(held, step))',
    to: 'false',
  },
  {
    rule: 'I3: what cannot be applied any more expires',
    file: 'hold/preview/restore.ts',
    from: "if (!isOpen(preview) || (preview.kind === 'files' && !preview.agentWrites)) return undefined;",
    to: "if (!isOpen(preview) || preview.kind !== 'plan') return undefined;",
  },
  {
    rule: 'I4: nothing is forced for what others block',
    file: 'session/forcing/askedPreviews.ts',
    from: 'return blockers.every(each => before.includes(each) || this.#isVotedFor(each));',
    to: 'return true;',
  },
  {
    rule: 'I4: the model is not forced forever',
    file: 'session/forcing/resolveDirectives.ts',
    from: 'export const MAX_FORCED_TURNS = 3;',
    to: 'export const MAX_FORCED_TURNS = 1_000_000;',
  },
  {
    rule: 'I4: with auto in Review, votes are forced only when the turn would end',
    file: 'session/forcing/resolveDirectives.ts',
    from: 'return this.#asked.withdrawAll({ due: true });',
    to: '',
  },
  {
    rule: 'I5: after a failed apply the model is asked again',
    file: 'hold/preview/resolve/invoker.ts',
    from: "if (request.action === 'apply') this.#tellFailure(group);",
    to: '',
  },
  {
    rule: 'I6: every call gets its one result',
    file: 'session/loop.ts',
    from: 'for (const result of results) port.append(result);',
    to: 'for (const result of results.slice(0, 1)) port.append(result);',
  },
  {
    rule: 'I7: the model executes only what it may',
    file: 'hold/preview/resolve/invoker.ts',
    from: 'return modelMay(this.#authority(), action, preview, files);',
    to: "return 'execute';",
  },
  {
    rule: 'I7: the model votes only on what it has seen',
    file: 'session/forcing/modelResolver.ts',
    from: 'return preview !== undefined && isOpen(preview) && !this.#seen.has(id);',
    to: 'return preview === undefined;',
  },
  {
    rule: 'I7: the model hears what others resolve',
    file: 'session/outcomes.ts',
    from: "if (fact.entry.actor !== 'model' ||",
    to: "if (fact.entry.actor === 'human' ||",
  },
  {
    rule: 'the model hears that a preview became stale, also after a reload',
    file: 'session/outcomes.ts',
    from: '!isKnownStale(fact, facts, told)) return [];',
    to: "!isKnownStale(fact, facts, told)) return [];\n    if (fact.kind === 'stale') return [];",
  },
  {
    rule: 'what happened is told once',
    file: 'session/outcomes.ts',
    from: 'const told = new Set([...keys, ...said.flatMap(({ tells }) => tells ?? [])]);',
    to: "const told = new Set([...keys, ...said.flatMap(({ tells }) => tells ?? [])].filter(key => !key.includes('stale')));",
  },
  {
    rule: 'the model hears what it resolved on a branch that was left',
    file: 'session/outcomes.ts',
    from: 'if (!interrupted && !isLost) return undefined;',
    to: 'if (!interrupted) return undefined;',
  },
  {
    rule: 'only the user applies what is protected',
    file: 'hold/preview/resolve/invoker.ts',
    from: 'isProtected = await this.#isProtected(preview, lookOf(request));',
    to: 'await this.#isProtected(preview, lookOf(request));',
    test: 'hold/preview/resolve/invoker.test.ts',
  },
  {
    rule: 'in plan mode no vote of the model is executed',
    file: 'hold/preview/resolve/invoker.ts',
    from: "if (isPlanning?.()) return 'recommend';",
    to: '',
  },
  {
    rule: 'an answer that was forced before plan mode is no plan',
    file: 'session/forcing/modelResolver.ts',
    from: 'if (this.#asksForPlan) return this.#submit(call);',
    to: 'if (this.#mode) return this.#submit(call);',
  },
  {
    rule: 'a preview concerns the conversation of its origin',
    file: 'session/conversation/conversationPreviews.ts',
    from: 'if (origin?.sessionId !== this.#sessionId) return undefined;',
    to: 'if (!origin) return undefined;',
    and: [
      {
        from: 'return call.sessionId === this.#sessionId ? this.#nodeOf(call) : undefined;',
        to: 'return this.#nodeOf(call);',
      },
    ],
  },
  {
    rule: 'a preview is on the branch of the result that staged it',
    file: 'session/conversation/conversationPreviews.ts',
    from: 'return result ?? message;',
    to: 'return message;',
    and: [{ from: 'if (known !== undefined) return known;', to: '' }],
  },
  {
    rule: 'a session reads its own pending previews alone',
    file: 'hold/preview/overlay.ts',
    from: "this.#store.list('oldestFirst').filter(({ origin }) => origin?.sessionId === sessionId);",
    to: "this.#store.list('oldestFirst');",
  },
  {
    rule: 'a revert discards what the branch staged',
    file: 'session/revertQueue.ts',
    from: 'await Promise.all(staged.filter(isOpen).map(',
    to: 'await Promise.all(staged.slice(1).filter(isOpen).map(',
  },
  {
    rule: 'a revert discards what another attempt fails to resolve',
    file: 'session/revertQueue.ts',
    from: "} while (resolved.kind === 'already' && isStillOpen());",
    to: '} while (false);',
  },
  {
    rule: 'a vote waits for an attempt that began the moment another one failed',
    file: 'hold/preview/resolve/activeResolutions.ts',
    from: 'if (this.#ends.get(id) === promise) this.#ends.delete(id);',
    to: 'this.#ends.delete(id);',
  },
  {
    rule: 'what is protected is protected by every name',
    file: 'hold/preview/resolve/invoker.ts',
    from: 'return makesLink(preview) || (await this.#workspace.isProtected(pathsOf(preview), look));',
    to: 'return makesLink(preview) || pathsOf(preview).some(file => file.startsWith(`.vscode/`));',
  },
  {
    rule: 'a revert undoes what was applied on the branch and staged before it',
    file: 'session/revertQueue.ts',
    from: '...abandonedNodeIds.flatMap(node => trail.resolutionsAfter(node)),',
    to: '',
  },
  {
    rule: 'a revert undoes the last apply first',
    file: 'hold/preview/undo.ts',
    from: 'const undone = applied.toReversed();',
    to: 'const undone = applied;',
  },
  {
    rule: 'the session continues by itself only after its review',
    file: 'session/review.ts',
    from: 'if (previews.hasOpen) return false;',
    to: '',
  },
  {
    rule: 'a file gets the permission bits that a change gives it',
    file: 'hold/preview/commit/commitChanges.ts',
    from: 'return writeStep(files, step, expected, mode, blobs);',
    to: 'return writeStep(files, step, expected, undefined, blobs);',
  },
  {
    rule: 'after a crash, a new name with the old text is a rename that was not finished',
    file: 'hold/preview/commit/rollback.ts',
    from: '[own ?? origin?.side, left ?? moved ?? own]',
    to: '[own, left ?? moved ?? own]',
    test: 'hold/preview/commit/recovery.test.ts',
  },
  {
    rule: 'changes of several files carry the permission bits on',
    file: 'hold/preview/fileSteps.ts',
    from: "const next = kind === 'rename' ? had :",
    to: "const next = kind === 'rename' ? held.get(path) :",
  },
  {
    rule: 'a rollback gives the permission bits back',
    file: 'hold/preview/commit/rollback.ts',
    from: 'before && isText(before) ? bytesOfSide(before) : null, now, mode);',
    to: 'before && isText(before) ? bytesOfSide(before) : null, now);',
  },
  {
    rule: 'Undo gives the permission bits back',
    file: 'hold/preview/undo.ts',
    from: '...withMode,',
    to: '',
  },
  {
    rule: 'after a crash, an edit in an editor that is gone was not written',
    file: 'hold/preview/commit/recovery.ts',
    from: "lacks === true ? 'lacking' : lacks",
    to: 'state',
  },
  {
    rule: 'after a crash, what was saved before an editor was lost is no part of a change',
    file: 'hold/preview/commit/rollback.ts',
    from: '!editors.includes(step.path) &&',
    to: '',
  },
  {
    rule: 'the journal says what goes into an editor',
    file: 'hold/preview/commit/readRollbackInfo.ts',
    from: 'if (isUnsaved) editors.push(path);',
    to: '',
  },
  {
    rule: 'what is typed into a proposal is merged with what it says by now',
    file: 'hold/preview/commitText.ts',
    from: 'const isMerged = base !== undefined && base !== now;',
    to: 'const isMerged = false;',
  },
  {
    rule: 'agents: what git ignores delays no preview',
    file: 'sandbox/agentView/agentView.ts',
    from: '(layer, at) => this.#ignored.get(layer)?.has(at) === true,',
    to: '() => false,',
    test: 'clients/view/interrupted.test.ts',
  },
  {
    rule: 'agents: a wall is claimed only if it holds',
    file: 'clients/view/mountsOf.ts',
    from: 'return wall && (await holds(wall, storage, written)) ? wall : [];',
    to: 'return wall ?? [];',
    test: 'clients/view/copyViews.test.ts',
  },
  {
    rule: 'agents: credentials beside tools are hidden in a terminal',
    file: 'sandbox/view/bubblewrap.ts',
    from: '...system.hidden.flatMap(hide),',
    to: '',
    test: 'clients/view/agentViews.test.ts',
  },
];
