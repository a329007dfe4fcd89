const playsAll = process.env['REDLINE_ALL_ROUNDS'] === '1';

/**
 * How often a test plays what it plays by chance, or how much it makes where the length is the point: a part of it in
 * `npm test`, all of it in `npm run test:rest`.
 */
export function rounds(all: number, few: number): number {
  return playsAll ? all : few;
}
