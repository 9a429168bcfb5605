import { type Configuration, z } from '@cinnabar/sdk';
import type { GlobalSettings } from '../settings.js';
import { VENDORS } from './schema.js';
import { notConfigured } from './single.js';

/** The keys of the configuration files that this plugin reads. */
export const FILE_KEYS = z.object({
  vendors: VENDORS.optional().describe(
    'Several sources of models at once, by name: provider, config (keys as references to the environment) and provides, patterns for the names of their models. In shared.yaml, or in the file of a bot',
  ),
});

/**
 * The settings together with the vendors of `shared.yaml` and of the bot's file. Where two have a vendor of one name, the narrower file
 * wins, and `!set llm vendors` over all files.
 * @throws CINNABAR_LLM_NOT_CONFIGURED with file, line and key
 */
export async function withVendorsOfFiles(
  settings: GlobalSettings,
  configuration: Pick<Configuration, 'layers'>,
): Promise<GlobalSettings> {
  const found: GlobalSettings['vendors'][] = [];
  for (const { source, values, lineOf } of await configuration.layers(null)) {
    // `vendors:` with everything below it commented out.
    if (values.vendors === undefined || values.vendors === null) continue;
    const { data, error } = FILE_KEYS.safeParse({ vendors: values.vendors });
    if (data?.vendors !== undefined) found.push(data.vendors);
    const [issue] = error?.issues ?? [];
    if (issue === undefined) continue;
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const key = [...issue.path, ...unknown].map((part) => (typeof part === 'symbol' ? String(part) : part));
    throw notConfigured(`${source}:${lineOf(key)}: ${key.join('.')}: ${issue.message}`);
  }
  return { ...settings, vendors: Object.assign({}, ...found, settings.vendors) };
}
