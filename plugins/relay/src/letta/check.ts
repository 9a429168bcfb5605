import { type CheckResult, operatorSentenceOf, t, type z } from '@cinnabar/sdk';
import type { env } from '../context.js';
import type { settings } from '../settings.js';
import { createConnect, isOlder, TRIED, versionOf } from './client.js';
import { troubleOf } from './errors.js';

/** For `doctor`: whether the Letta server can be reached and accepts the key, and which version it is. Nothing where none is set up. */
export async function checkLetta(
  { baseUrl = undefined }: Pick<z.output<typeof settings.global>, 'baseUrl'>,
  { LETTA_BASE_URL, LETTA_API_KEY }: z.output<typeof env>,
): Promise<readonly CheckResult[]> {
  const address = baseUrl ?? LETTA_BASE_URL;
  if (address === undefined && LETTA_API_KEY === undefined) return [];
  try {
    const client = await createConnect({ baseUrl: address, apiKey: LETTA_API_KEY })();
    const version = await versionOf(client);
    await client.agents.list({ limit: 1 });
    if (version !== undefined && isOlder(version, TRIED))
      return [
        {
          ok: false,
          text: t('The Letta server is version {version}; {tried} is the one that was tried', {
            version,
            tried: TRIED,
          }),
          remedy: t('Update the Letta server.'),
        },
      ];
    return [{ ok: true, text: t('The Letta server answers (version {version})', { version: version ?? '?' }) }];
  } catch (error) {
    const { sentence } = troubleOf(error);
    return [
      {
        ok: false,
        text: operatorSentenceOf(error) ?? sentence,
        remedy: t('Look at LETTA_BASE_URL and LETTA_API_KEY, and whether the server runs.'),
      },
    ];
  }
}
