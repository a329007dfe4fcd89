/** `npm run l10n`: writes the texts of src to l10n/bundle.l10n.json, then lists the missing translations. */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { bundleFile, exportBundle } = await import('./l10n/exportBundle.mjs');
const { readTexts, translationFaults } = await import('./l10n/translations.mjs');
const { writeFileSync } = await import('node:fs');

writeFileSync(bundleFile, exportBundle());
const faults = translationFaults(readTexts());
for (const fault of faults) console.log(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
