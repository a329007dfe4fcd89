import * as l10n from '@vscode/l10n';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { slashCommandHelp, type LocalCommand } from '../../agent/session/model/offline/slashCommands.ts';
import type { LedgerEntry } from '../../agent/hold/preview/ledger.ts';
import type { Resolved } from '../../agent/hold/preview/resolve/resolved.ts';
import { isOpen, titleOf, type Preview, type ResolveAction } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { LEFT } from '../../agent/session/conversation/validateRevert.ts';
import type { Session } from '../../agent/session/session.ts';
import type { LoadProblem } from '../../agent/session/tools/custom/loading/loadProblem.ts';
import type { ToolRegistry } from '../../agent/session/tools/registry.ts';
import { problemSentence } from '../customTools/problemSentence.ts';
import { sentenceFor } from '../texts/errorSentence.ts';
import { runText } from '../texts/previewWords.ts';
import { oneLine, plural } from '../plainText.ts';

export interface LocalCommandsOptions {
  readonly session: Session;
  /** Shows the user an answer whose conversation is no longer open. */
  readonly tell: (answer: string) => void;
  readonly store: PreviewStore;
  readonly tools: ToolRegistry;
  readonly customTools: {
    readonly problems: readonly LoadProblem[];
    readonly withheld: readonly string[];
  };
  /** The name of a file as the user knows it. */
  readonly nameOf: (file: string) => string;
  /** The open previews, in review order. */
  readonly review: { list(): readonly Preview[] };
  /** The preview in the active editor. */
  readonly activePreviewId: () => string | undefined;
  /** The oldest revision of a preview that an editor shows; `undefined` if none shows it. */
  readonly shownRevision: (id: string) => number | undefined;
  /**
   * Runs the same command as the Apply and Discard buttons, with its questions and error messages.
   * @returns how the vote ended; nothing if there was none.
   */
  readonly vote: (
    action: ResolveAction,
    id: string,
    reason: string | undefined,
    revision: number,
  ) => Thenable<Resolved['kind'] | undefined>;
  /** Opens a preview in an editor. */
  readonly open: (id: string) => Thenable<unknown>;
  /** Runs Discard All. @returns how many previews it discarded; `undefined` if nothing is pending */
  readonly discardAll: () => Promise<number | undefined>;
  readonly logger: Logger;
}

type Revert = Extract<LocalCommand, { kind: 'revert' }>;
type Vote = Extract<LocalCommand, { kind: 'vote' }>;

/**
 * Runs the slash commands that stand in for a click. They run the same commands as the click and are not prompts: they
 * work with every provider and while a turn is running, and the model learns of the outcome as it does after a click.
 */
export class LocalCommands {
  readonly #options: LocalCommandsOptions;

  constructor(options: LocalCommandsOptions) {
    this.#options = options;
  }

  /**
   * Runs a command that the user typed. @returns its outcome, which is noted in the conversation in which the command was typed. If
   * another one is open by then, the user is told instead. Never rejects.
   */
  async answer(typed: string, command: LocalCommand): Promise<string> {
    const { session, tell } = this.#options;
    const { id } = session;
    const answer = await this.run(command);
    if (session.id === id) session.note(typed, answer);
    else tell(answer);
    return answer;
  }

  /** Runs a command. @returns its outcome for the user, as Markdown. Never rejects. */
  async run(command: LocalCommand): Promise<string> {
    const { logger } = this.#options;
    try {
      return await this.#run(command);
    } catch (error) {
      logger.error(`"/${command.kind}" failed: ${detailOf(error)}`);
      return sentenceFor(error, l10n) ?? l10n.t('Redline could not do that. The log has the details.');
    }
  }

  async #run(command: LocalCommand): Promise<string> {
    const { discardAll } = this.#options;
    switch (command.kind) {
      case 'vote':
        return this.#vote(command);
      case 'discardAll': {
        const count = await discardAll();
        if (count === undefined) return l10n.t('Nothing is pending.');
        if (count === 0) return l10n.t('Nothing was discarded.');
        return plural(l10n.t('Discarded 1 preview.|Discarded {0} previews.'), count);
      }
      case 'revert':
        return this.#revert(command);
      case 'tools':
        return this.#toolList();
      case 'help':
        return l10n.t('These commands work with every model:') + `\n\n${slashCommandHelp(l10n)}`;
      case 'malformed':
        return l10n.t('Usage: {0}', `\`${command.usage}\``);
    }
  }

  async #vote({ action, id, reason }: Vote): Promise<string> {
    const { store, review, shownRevision, vote, open } = this.#options;
    const preview = id === undefined ? this.#shown() : store.get(id);
    if (!preview && id !== undefined) return l10n.t('There is no preview {0}.', id);
    if (!preview) {
      const [head] = review.list();
      if (!head) return l10n.t('Nothing is pending.');
      // The user has not seen it yet: it is opened instead of resolved.
      await open(head.id);
      return l10n.t(
        'No preview was open, so {0} has been opened. Review it, then apply or discard it.',
        idAndTitle(head),
      );
    }
    if (!isOpen(preview)) return this.#tellState(preview, 'already');
    const end = await vote(action, preview.id, reason, shownRevision(preview.id) ?? preview.revision);
    const now = store.get(preview.id) ?? preview;
    if (end === 'returnedError') {
      const { message = '' } = this.#lastAttempt(now) ?? {};
      return l10n.t('Applied {0}, which returned an error: {1}', idAndTitle(now), plain(message));
    }
    return this.#tellState(now, 'now');
  }

  async #revert({ target, category, summary }: Revert): Promise<string> {
    const { session } = this.#options;
    const { applied, reason } = await session.revert({ target, category, summary: summary ?? null });
    if (reason === LEFT) return l10n.t('Nothing was reverted: another session was opened.');
    return applied
      ? l10n.t('The conversation was reverted to {0}.', `n${target}`)
      : l10n.t(
          'The conversation cannot be reverted to {0}: there is no such message, or nothing comes after it.',
          `n${target}`,
        );
  }

  /** The preview in the active editor, while it can be voted on. */
  #shown(): Preview | undefined {
    const shown = this.#options.store.get(this.#options.activePreviewId() ?? '');
    return shown && isOpen(shown) ? shown : undefined;
  }

  #lastAttempt({ id }: Preview): LedgerEntry | undefined {
    return this.#options.store.ledger().findLast(({ previewId }) => previewId === id);
  }

  #tellState(preview: Preview, since: 'already' | 'now'): string {
    const name = idAndTitle(preview);
    const { state } = preview;
    const { run } = this.#lastAttempt(preview) ?? {};
    switch (state.kind) {
      case 'applied':
        return since === 'already'
          ? l10n.t('{0} is already applied: {1}', name, plain(state.by.reason))
          : run
            ? `${name}: ${runText(run)}`
            : l10n.t('Applied {0}.', name);
      case 'discarded':
        return since === 'already'
          ? l10n.t('{0} is already discarded: {1}', name, plain(state.by.reason))
          : l10n.t('Discarded {0}.', name);
      case 'expired':
        return l10n.t('{0} has expired and can no longer run.', name);
      case 'pending':
      case 'applying':
        return l10n.t('{0} is still pending.', name);
    }
  }

  #toolList(): string {
    const { tools, customTools, nameOf: shortName } = this.#options;
    const rows = tools
      .list()
      .map(({ name, description }) => `- \`${name}\`: ${plain(firstSentence(description))}`);
    const { problems, withheld } = customTools;
    const faults = problems.map(
      ({ file, fault }) => `- ${plain(shortName(file))}: ${plain(problemSentence(fault, l10n, shortName))}`,
    );
    const parts = [l10n.t('Tools that the agent can use:'), rows.join('\n')];
    if (faults.length > 0) parts.push(l10n.t('Custom tools with problems:'), faults.join('\n'));
    if (withheld.length > 0) {
      const names = withheld.map(file => plain(shortName(file))).join(', ');
      parts.push(l10n.t('This workspace is not trusted: its custom tools are not loaded ({0}).', names));
    }
    return parts.join('\n\n');
  }
}

function idAndTitle(preview: Preview): string {
  return `${preview.id} (${plain(titleOf(preview))})`;
}

/** Foreign text on one line, with Markdown's special characters escaped. */
function plain(text: string): string {
  return oneLine(text).replace(/[\\`*_[\]<>#|!~&]/g, '\\$&');
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s+[A-Z]|$)/s.exec(text)?.[0] ?? text;
}
