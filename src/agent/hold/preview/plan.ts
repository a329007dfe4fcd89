import type { Preview } from './preview.ts';

/** A plan as the model submitted it. */
export interface Plan {
  readonly title: string;
  readonly text: string;
}

/** The plan that a preview submits for approval; `undefined` for any other preview. */
export function planOf({ kind, details }: Preview): Plan | undefined {
  if (kind !== 'plan' || typeof details !== 'object' || details === null) return undefined;
  const { title, text } = details as Partial<Record<keyof Plan, unknown>>;
  return typeof title === 'string' && typeof text === 'string' ? { title, text } : undefined;
}
