import {
  asNotice,
  createAskFirst,
  formatDuration,
  inWords,
  plainText,
  type Subcommand,
  subcommand,
  t,
  z,
} from '@cinnabar/sdk';
import type { AdminContext } from './context.js';

const OWNER = { tier: 'botOwner' } as const;
/** Maximum time between a restart by the command and the bot's start: a later start has another cause. */
const BACK_WITHIN_MS = 60 * 60_000;

/** The place where a restart was requested, until the bot has reported its return there. */
export const restarts = {
  scope: 'global',
  version: 1,
  schema: z.object({ userId: z.string(), guildId: z.string().nullable(), channelId: z.string(), at: z.number() }),
  personal: { by: 'userId' },
} as const;
const LATEST = 'latest';

/** `!bot restart` and `!bot shutdown`. */
export function processCommands(context: AdminContext): readonly Subcommand[] {
  const { component, collections, services } = context;
  const { audit, clock, control } = services;
  const askFirst = createAskFirst({ component, ...services, name: 'bot-shutdown', access: OWNER });
  context.ready(() => sayBack(context));

  return [
    subcommand({
      name: 'restart',
      description: 'Start the bot again',
      help: 'Running work finishes first, which may take up to 15 seconds. The bot reports here when it is back. The processes of a cluster restart one after another.',
      access: OWNER,
      async run(ctx) {
        const { userId, guildId, channelId } = ctx.actor;
        await collections.restarts.of(LATEST).set({ userId, guildId, channelId, at: clock.now() });
        try {
          const deaf = await findDeaf(context);
          await ctx.reply(
            [
              t('Restarting. I finish what I have begun, and say here when I am back.'),
              ...(deaf.length === 0
                ? []
                : [
                    t(
                      '{names} {count, plural, one {is of an earlier version and does not hear of it: start it again where it runs.} other {are of an earlier version and do not hear of it: start them again where they run.}}',
                      { names: inWords(deaf), count: deaf.length },
                    ),
                  ]),
            ].join('\n'),
          );
        } finally {
          control.end('restart');
        }
      },
    }),
    subcommand({
      name: 'shutdown',
      description: 'Stop the bot',
      help: 'Running work finishes first, in all processes of a cluster. A service manager that restarts the bot has to be stopped separately: `docker compose stop`.',
      access: OWNER,
      run: (ctx) =>
        askFirst(ctx, {
          content: t('Stop the bot? It can be started again only where it runs.'),
          yes: t('Stop it'),
          async run() {
            audit.record({ actor: ctx.actor, act: 'bot shutdown (agreed)', outcome: 'done' });
            const deaf = await findDeaf(context);
            // Runs after the answer, since the stop waits for running commands.
            context.after(0, () => control.end('shutdown'));
            return [
              t('Stopping. Goodbye.'),
              ...(deaf.length === 0
                ? []
                : [
                    t(
                      '{names} {count, plural, one {is of an earlier version and goes on: stop it where it runs.} other {are of an earlier version and go on: stop them where they run.}}',
                      { names: inWords(deaf), count: deaf.length },
                    ),
                  ]),
            ].join('\n');
          },
        }),
    }),
  ];
}

/** Names of processes whose version does not support ending by request; empty when the versions are not known. */
async function findDeaf({ services, log }: AdminContext): Promise<readonly string[]> {
  const status = await services.cluster.status().catch((error: unknown) => {
    log.info('the processes of the cluster are not known', { error });
    return undefined;
  });
  return (status?.processes ?? []).filter(({ endsWhenAsked }) => !endsWhenAsked).map(({ name }) => plainText(name));
}

async function sayBack({ client, collections, services, log }: AdminContext): Promise<void> {
  const document = collections.restarts.of(LATEST);
  const asked = await document.find();
  // The process that serves that server sends the message.
  if (asked === undefined || (asked.guildId !== null && !client.guilds.cache.has(asked.guildId))) return;
  // Deleted before the message is sent, so that it is sent once.
  await document.delete();
  const tookMs = services.clock.now() - asked.at;
  if (tookMs > BACK_WITHIN_MS) return;
  const { guildId, userId, channelId } = asked;
  await services.languages.speak({ guildId, userId }, async () => {
    try {
      const channel = await client.channels.fetch(channelId);
      if (channel?.isSendable() !== true) return;
      const after = formatDuration(Math.max(1_000, Math.round(tookMs / 1_000) * 1_000));
      const content = asNotice(t('I am back, after {after}.', { after }));
      await channel.send({ content, allowedMentions: { parse: [] } });
    } catch (error) {
      log.info('could not say where the restart was asked for that the bot is back', { channelId, error });
    }
  });
}
