import { type CheckResult, type Diagnosis, needFindings, type Turn, t } from '@cinnabar/sdk';
import type { AiContext } from './context.js';
import { routeOf } from './intake.js';

/**
 * What has to be right for what is said to the bot to be answered: who answers here, what they need, and the limits of `ai`.
 * @param refusal what the intake would refuse a turn with now
 */
export function createDiagnosis(
  { client, settings, services: { plugins, responders } }: AiContext,
  refusal: (place: Pick<Turn, 'actor' | 'channel' | 'guild'>) => Promise<string | undefined>,
): Diagnosis {
  return async ({ actor, kind, name }) => {
    if (name !== 'ai' || kind === 'tool') return [];
    const channel = client.channels.cache.get(actor.channelId);
    if (channel?.isSendable() !== true) return [];
    const { guildId } = actor;
    const { responder, chosen } = await routeOf(settings, channel, guildId);
    const known = responders.list(guildId);
    const info = known.find((one) => one.name === responder);
    if (info === undefined) {
      const [other] = known;
      const isOff = plugins.list().some(({ id, state }) => id === responder && state === 'running');
      const text = t('`{responder}` is to answer here, and is not there', { responder });
      return [{ ok: false, text, remedy: remedyFor(responder, isOff, other?.name, chosen === 'channel') }];
    }
    const guild = guildId === null ? null : (client.guilds.cache.get(guildId) ?? null);
    const sentence = await refusal({ actor, channel, guild });
    const limits: readonly CheckResult[] =
      sentence === undefined ? [] : [{ ok: false, text: sentence.replace(/\.$/, ''), remedy: t('Wait a moment.') }];
    return [
      { ok: true, text: t('`{responder}` answers here', { responder }) },
      ...needFindings(await plugins.setupNeed(guildId, info.plugin)),
      ...(await plugins.diagnose(info.plugin, { actor, kind: 'plugin', name: info.plugin })),
      ...limits,
    ];
  };
}

function remedyFor(responder: string, isOff: boolean, other: string | undefined, ofChannel: boolean): string {
  if (isOff) return t('An admin switches it on with `plugin enable {responder}`.', { responder });
  if (other === undefined) return t('The owner of the bot loads it with `plugin load {responder}`.', { responder });
  return ofChannel
    ? t('An admin has another answer with `ai use {other} --here`.', { other })
    : t('An admin has another answer with `ai use {other}`.', { other });
}
