import type { Closing } from '../agent/base/disposable.ts';

let parts: Closing | undefined;

/** Has VS Code's deactivation of the extension close these, for whose end it waits. */
export function closeAtDeactivation(closing: Closing): void {
  parts = closing;
}

/**
 * VS Code calls this before the host ends. It disposes of the subscriptions right afterwards, without waiting, and then waits
 * up to 5 s for the promise (`AbstractExtHostExtensionService._deactivate` and `terminate`). So whatever must end in order,
 * such as writing what waits before the storage is unlocked, is closed here and is no subscription.
 */
export function deactivate(): Promise<void> | undefined {
  return parts?.close();
}
