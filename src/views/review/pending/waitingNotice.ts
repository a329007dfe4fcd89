import * as vscode from 'vscode';
import { Owner } from '../../../agent/base/disposable.ts';
import { titleOf } from '../../../agent/hold/preview/preview.ts';
import type { Agent } from '../../agent.ts';
import { execute } from '../../commandRegistry.ts';
import { oneLine } from '../../plainText.ts';
import { showInfo } from '../../toast.ts';

/** How long the agent waits before the user is told, in milliseconds: until then the preview may have opened automatically. */
const PATIENCE_MS = 1_000;

/**
 * Notifies the user that the agent waits for a decision, if that may not be in sight: at most once until it no longer waits for
 * anything. VS Code cannot close a notification, so a click on its button opens the previews that are pending then.
 */
export class WaitingNotice extends Owner {
  readonly #agent: Agent;
  readonly #isInSight: () => boolean;
  #isWaiting = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param isInSight whether the user looks at something that shows that the agent waits */
  constructor(agent: Agent, isInSight: () => boolean) {
    super();
    this.#agent = agent;
    this.#isInSight = isInSight;
    this.own(agent.session.onDidEmit(({ type }) => type === 'state_changed' && this.#follow()));
    this.own(agent.store.onDidChange(() => this.#follow()));
    this.own({ dispose: () => clearTimeout(this.#timer) });
  }

  #follow(): void {
    const isWaiting = this.#waits();
    if (isWaiting === this.#isWaiting) return;
    this.#isWaiting = isWaiting;
    clearTimeout(this.#timer);
    if (isWaiting) this.#timer = setTimeout(() => this.#tell(), PATIENCE_MS);
  }

  /** Whether the session waits, or another program's agent, which waits as long as a preview of its own is pending. */
  #waits(): boolean {
    const { session, store } = this.#agent;
    if (session.state === 'awaitingReview') return true;
    return [...store.open].some(({ state, origin }) => state.kind === 'pending' && origin?.agent);
  }

  #tell(): void {
    const { store } = this.#agent;
    const [first, ...others] = [...store.open].filter(({ state }) => state.kind === 'pending');
    if (!first || this.#isInSight()) return;
    const text =
      others.length === 0
        ? vscode.l10n.t('Redline waits for your review: {0}', oneLine(titleOf(first)))
        : vscode.l10n.t('Redline waits for your review of {0} changes.', others.length + 1);
    const button = vscode.l10n.t('Review');
    void showInfo(text, button).then(clicked =>
      clicked === button ? execute('redline.preview.open') : undefined,
    );
  }
}
