import { type CheckResult, type Diagnosis, t } from '@cinnabar/sdk';
import { PLUGIN, placesOf } from './agents/permissions.js';
import { modeOf, type Roster } from './agents/roster.js';
import type { Relay } from './context.js';

/** What has to be right for what is said to the bot to reach an agent of the server, beside that one lives there. */
export function createDiagnosis(relay: Relay): Diagnosis {
  const { budget, client, rosters } = relay;
  return async ({ actor: { guildId, channelId }, kind, name }) => {
    const channel = client.channels.cache.get(channelId);
    const roster = guildId === null ? undefined : rosters.of(guildId);
    if (kind !== 'plugin' || name !== PLUGIN || roster === undefined || channel === undefined) return [];
    const spent = await budget.refusal(guildId);
    return [
      ...ofRoster(roster, placesOf(channel)),
      ...(spent === undefined
        ? []
        : [
            {
              ok: false,
              text: spent.replace(/\.$/, ''),
              remedy: t(
                'Wait until tomorrow, or have an admin lift it with `set relay dayTurns 0` and `set relay dayTokens 0`.',
              ),
            },
          ]),
      ...(await ofServer(roster, relay)),
    ];
  };
}

function ofRoster(roster: Roster, places: readonly string[]): readonly CheckResult[] {
  if (modeOf(roster, places) === 'off')
    return [
      {
        ok: false,
        text: t('nothing reaches the agents from this channel: its mode is `off`'),
        remedy: t('An admin changes that with `relay mode mention`.'),
      },
    ];
  return roster.paused
    ? [
        {
          ok: false,
          text: t('the agents of this server are paused'),
          remedy: t('An admin has them go on with `relay resume`.'),
        },
      ]
    : [];
}

/** Whether any agent is served: an open circuit keeps what is said waiting. */
async function ofServer({ agents }: Roster, { breakers, clock, letta }: Relay): Promise<readonly CheckResult[]> {
  const waits = await Promise.all(
    Object.values(agents).map(
      async ({ agentId }) => breakers.for(await letta.globalName(agentId)).admitsAt - clock.now(),
    ),
  );
  if (waits.length === 0 || waits.some((waitMs) => waitMs <= 0)) return [];
  const text = t('no agent of this server answers at the moment');
  const remedy = t(
    'What is said waits, and is tried again by itself. If it stays so, the owner of the bot looks at the Letta server with `doctor`.',
  );
  return [{ ok: false, text, remedy }];
}
