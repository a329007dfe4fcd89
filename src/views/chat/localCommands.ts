import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import { slashCommandHelp, type LocalCommand } from '../../agent/model/slashCommands.ts';
import { textOf, type AgentToolResult } from '../../agent/preview/pendingAction.ts';
import { isOpen, type Preview, type ResolveAction, type ResolveOrder } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Session } from '../../agent/session/session.ts';
import type { ToolRegistry } from '../../agent/tools/registry.ts';
import type { LoadProblem } from '../../agent/tools/custom/loadProblem.ts';
import type { SentenceLocaliser } from '../errorSentence.ts';
import { oneLine } from '../plainText.ts';
import { problemSentence } from '../tools/problemSentence.ts';

export interface LocalCommandsOptions {
  readonly store: Pick<PreviewStore, 'get' | 'list'>;
  readonly tools: Pick<ToolRegistry, 'list'>;
  readonly customTools: {
    readonly problems: readonly LoadProblem[];
    readonly withheld: readonly string[];
  };
  /** A file as the person knows it. */
  readonly nameOf: (file: string) => string;
  readonly settings: { readonly order: ResolveOrder };
  /** The preview in the active editor. */
  readonly activePreviewId: () => string | undefined;
  /** What the command of a click does, with what it asks before and tells when it fails. */
  readonly vote: (
    action: ResolveAction,
    id: string,
    reason: string | undefined,
    revision: number,
  ) => Thenable<unknown>;
  /** Shows a preview in an editor. */
  readonly open: (id: string) => Thenable<unknown>;
  /** What the command `Discard All` does; gives how many it discarded. */
  readonly discardAll: () => Promise<number>;
  /** Takes the conversation back for the person. */
  readonly revert: Session['revert'];
  readonly l10n: SentenceLocaliser;
  /** A known error in words for the person; given, because the kinds of errors are told apart by identity. */
  readonly sentenceFor: (error: unknown) => string | undefined;
  readonly logger: Logger;
}

type Revert = Extract<LocalCommand, { kind: 'revert' }>;
type Vote = Extract<LocalCommand, { kind: 'vote' }>;

/**
 * Carries out what a person types in the chat in place of a click. It is the same command as the click, and nothing of it is
 * a prompt: it works with every provider, while a turn runs too, and the model hears of the outcome as it does after a
 * click.
 */
export class LocalCommands {
  readonly #options: LocalCommandsOptions;

  constructor(options: LocalCommandsOptions) {
    this.#options = options;
  }

  /** What came of it, as Markdown for the person. Never rejects. */
  async run(command: LocalCommand): Promise<string> {
    const { l10n, logger, sentenceFor } = this.#options;
    try {
      return await this.#run(command);
    } catch (error) {
      logger.error(`"/${command.kind}" failed: ${detailOf(error)}`);
      return sentenceFor(error) ?? l10n.t('Redline could not do that. The log has the details.');
    }
  }

  async #run(command: LocalCommand): Promise<string> {
    const { l10n, discardAll } = this.#options;
    switch (command.kind) {
      case 'vote':
        return this.#vote(command);
      case 'discardAll': {
        const count = await discardAll();
        if (count === 0) return l10n.t('Nothing is pending.');
        return count === 1
          ? l10n.t('Discarded 1 preview.')
          : l10n.t('Discarded {0} previews.', String(count));
      }
      case 'revert':
        return this.#revert(command);
      case 'tools':
        return this.#toolList();
      case 'help':
        return l10n.t('These commands work with every model:') + `\n\n${slashCommandHelp()}`;
      case 'malformed':
        return l10n.t('That command needs the form {0}.', `\`${command.usage}\``);
    }
  }

  async #vote({ action, id, reason }: Vote): Promise<string> {
    const { store, settings, vote, open, l10n } = this.#options;
    const preview = id === undefined ? this.#shown() : store.get(id);
    if (!preview && id !== undefined) return l10n.t('There is no preview {0}.', id);
    if (!preview) {
      const [head] = store.list(settings.order);
      if (!head) return l10n.t('Nothing is pending.');
      // Nobody votes on what they have not seen.
      await open(head.id);
      return l10n.t(
        'No preview was open. {0} is open now: look at it, then apply or discard it.',
        nameOf(head),
      );
    }
    if (!isOpen(preview)) return this.#tellState(preview, true);
    const result = await vote(action, preview.id, reason, preview.revision);
    if (isFailure(result)) return l10n.t('{0} failed: {1}', nameOf(preview), plain(textOf(result)));
    return this.#tellState(store.get(preview.id) ?? preview, false);
  }

  async #revert({ target, category, summary }: Revert): Promise<string> {
    const { revert, l10n } = this.#options;
    const { applied } = await revert({ target, category, summary: summary ?? null });
    return applied
      ? l10n.t('The conversation was taken back to {0}.', `n${target}`)
      : l10n.t(
          'The conversation cannot be taken back to {0}: there is no such message, or nothing comes after it.',
          `n${target}`,
        );
  }

  /** The preview in the active editor, while it can be voted on. */
  #shown(): Preview | undefined {
    const shown = this.#options.store.get(this.#options.activePreviewId() ?? '');
    return shown && isOpen(shown) ? shown : undefined;
  }

  #tellState(preview: Preview, already: boolean): string {
    const { l10n } = this.#options;
    const name = nameOf(preview);
    const { state } = preview;
    switch (state.kind) {
      case 'applied':
        return already
          ? l10n.t('{0} was applied before: {1}', name, plain(state.by.reason))
          : l10n.t('Applied {0}.', name);
      case 'discarded':
        return already
          ? l10n.t('{0} was discarded before: {1}', name, plain(state.by.reason))
          : l10n.t('Discarded {0}.', name);
      case 'expired':
        return l10n.t('{0} has expired: what it would have run is gone.', name);
      case 'pending':
      case 'applying':
        return l10n.t('{0} is still pending.', name);
    }
  }

  #toolList(): string {
    const { tools, customTools, nameOf: shortName, l10n } = this.#options;
    const rows = tools
      .list()
      .map(({ name, description }) => `- \`${name}\`: ${plain(firstSentence(description))}`);
    const { problems, withheld } = customTools;
    const faults = problems.map(
      ({ file, fault }) => `- ${plain(shortName(file))}: ${plain(problemSentence(fault, l10n, shortName))}`,
    );
    const parts = [l10n.t('The tools that the agent has:'), rows.join('\n')];
    if (faults.length > 0) parts.push(l10n.t('Custom tools with problems:'), faults.join('\n'));
    if (withheld.length > 0) {
      const names = withheld.map(file => plain(shortName(file))).join(', ');
      parts.push(l10n.t('This workspace is not trusted: its custom tools are not loaded ({0}).', names));
    }
    return parts.join('\n\n');
  }
}

/** Commands give what the invoker gave, or nothing where nothing was resolved. */
function isFailure(result: unknown): result is AgentToolResult {
  return typeof result === 'object' && result !== null && 'isError' in result && result.isError === true;
}

function nameOf({ id, label }: Preview): string {
  return `${id} (${plain(label)})`;
}

/** Foreign text on one line, in which Markdown sees no marks. */
function plain(text: string): string {
  return oneLine(text).replace(/[\\`*_[\]<>#|!~&]/g, '\\$&');
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s+[A-Z]|$)/s.exec(text)?.[0] ?? text;
}
