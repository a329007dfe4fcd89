import { existsSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { ClaimedNumbers } from '../../agent/base/claimedNumbers.ts';

/**
 * What hands out the numbers of previews in a storage, above whatever an older version numbered there. That is looked for until
 * something is counted in the file, which all logs are read for once. If it cannot be told, the numbers are random ones.
 * @param onFailure called with what kept it from being told, or from being stored. Never rejects.
 */
export async function previewNumbersIn(
  storage: string,
  onFailure: (error: unknown) => void,
): Promise<ClaimedNumbers> {
  const file = path.join(storage, 'preview-ids');
  let numbers = new ClaimedNumbers(file, Infinity);
  try {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const isNew = ['previews.jsonl', 'sessions', 'windows'].every(
      name => !existsSync(path.join(storage, name)),
    );
    if (size > 0 || isNew) return new ClaimedNumbers(file);
    const { highestNumberIn } = await import('./highestNumber.ts');
    numbers = new ClaimedNumbers(file, await highestNumberIn(storage));
    await numbers.takeFloor();
  } catch (error) {
    onFailure(error);
  }
  return numbers;
}
