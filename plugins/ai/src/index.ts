import {
  type CheckResult,
  type Diagnosis,
  definePlugin,
  FrontDoor,
  needFindings,
  type Turn,
  t,
  turnEndOf,
} from '@cinnabar/sdk';
import { createChannelQueue } from './channel-queue.js';
import { registerCommands } from './commands.js';
import { type AiContext, inject, settings } from './context.js';
import { createDeletedMessages, createIntake, createMessageRouter, routeOf } from './intake.js';
import { collections, createStillWorking } from './still-working.js';
import { createTurnRunner } from './turn-runner.js';

export default definePlugin({
  manifest: {
    id: 'ai',
    version: '1.1.0',
    description: 'The front door: passes what is said to the bot to the responder of the channel',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'DirectMessages', 'MessageContent'],
    permissions: ['ViewChannel', 'SendMessages', 'SendMessagesInThreads', 'ReadMessageHistory'],
    administrative: true,
  },
  settings,
  collections,
  inject,
  provides: [FrontDoor],
  setup(context) {
    const { on, provide, ready, metrics, settings, signal } = context;
    const deletedMessages = createDeletedMessages(context);
    const stillWorking = createStillWorking(context);
    ready(stillWorking.removeLeft);
    const { takesBatches, answer } = createTurnRunner(context, stillWorking);
    const queue = createChannelQueue({
      concurrency: async () => (await settings.global.get()).maxConcurrent,
      takesBatches,
      isWithdrawn: (turn) => turnEndOf(turn.signal) !== undefined,
      signal,
      answer,
    });
    metrics.gauge({
      name: 'turns_waiting',
      help: 'Turns that wait for an answer.',
      read: () => queue.totals().waiting,
    });
    metrics.gauge({
      name: 'turns_answering',
      help: 'Channels in which an answer is being made.',
      read: () => queue.totals().answering,
    });
    const { take, refusal } = createIntake(context, queue, answer, deletedMessages);
    const router = createMessageRouter(context, take, deletedMessages);
    registerCommands(context, queue, take);
    provide(FrontDoor, router.frontDoor);
    on('messageCreate', router.route);
    context.diagnose(createDiagnosis(context, refusal));
  },
});

/**
 * The checks of why the bot does not answer here: the responder, what it needs, and the limits of `ai`.
 * @param refusal resolves with the reason for which the intake would refuse a turn now
 */
function createDiagnosis(
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
    ? t('An admin chooses another responder with `ai use {other} --here`.', { other })
    : t('An admin chooses another responder with `ai use {other}`.', { other });
}
