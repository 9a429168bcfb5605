import { type CommandContext, replyPrivately, subcommand, t, translated, UserError, z } from '@cinnabar/sdk';
import { AttachmentBuilder } from 'discord.js';
import type { AdminContext } from './context.js';

const COOLDOWN = { uses: 2, perMs: 60_000 } as const;

/** Data that remain after every deletion. */
const alwaysStays = () => [
  t('your messages in Discord, which are yours to delete, and what I have said there'),
  t('what others have written of you, also by your name, where I keep their words for them'),
  t('what you have set up for a server as its admin, which belongs to the server'),
];

/** Backups that still contain the data, and for how long: from the readable backups and the retention settings. */
async function inBackups({ settings, services: { backups } }: AdminContext): Promise<readonly string[]> {
  const { backupHours, backupKeep, backupFolder } = await settings.global.get();
  const there = await backups.list(backupFolder).catch(() => []);
  const byHand = there.filter(({ scheduled }) => !scheduled);
  const isScheduled = backupHours > 0 || there.length > byHand.length;
  return [
    ...(isScheduled && backupHours > 0
      ? [
          t(
            'copies in the backups that I make every {hours, plural, one {hour} other {# hours}}: the last {keep} are kept, so the data are in them for about {duration}',
            { hours: backupHours, keep: backupKeep, duration: spanOf(backupHours * backupKeep) },
          ),
        ]
      : []),
    ...(isScheduled && backupHours === 0
      ? [t('copies in earlier backups of mine, which nothing removes while backups are not made by themselves')]
      : []),
    byHand.length > 0
      ? t(
          'copies in {count, plural, one {a backup that was} other {# backups that were}} made by hand, and in those that the owner of the bot has put elsewhere: until the owner deletes them',
          { count: byHand.length },
        )
      : t(
          'copies in backups that the owner of the bot has put elsewhere, if there are any: until the owner deletes them',
        ),
    ...(there.length > 0 || isScheduled
      ? [t('when a backup is restored, the data are back: ask me to forget them again')]
      : []),
  ];
}

function spanOf(hours: number): string {
  return hours < 48
    ? t('{hours, plural, one {# hour} other {# hours}}', { hours })
    : t('{days, plural, one {# day} other {# days}}', { days: Math.ceil(hours / 24) });
}

/** Accepts ids of members who have left and of deleted accounts. */
const user = z
  .string()
  .regex(/^\d{15,22}$/, 'has to be the id of a user')
  .describe('The id of the user');

/** `!mydata …`: the requester's own data, and for the owner that of any user. */
export function registerMyData(context: AdminContext): void {
  const {
    group,
    services: { personalData: store },
  } = context;
  group({
    name: 'mydata',
    description: 'See or delete what I hold of you',
    commands: [
      subcommand({
        name: 'export',
        description: 'Get everything I hold of you as a file',
        ephemeral: true,
        cooldown: COOLDOWN,
        run: async (ctx) => handOver(ctx, await store.export(ctx.actor.userId)),
      }),
      subcommand({
        name: 'forget',
        description: 'Delete everything I hold of you',
        ephemeral: true,
        cooldown: COOLDOWN,
        options: { confirm: z.enum(['everything']).optional().describe('Write "everything" to delete it') },
        async run(ctx, { confirm }) {
          if (confirm === undefined) {
            return ctx.reply(
              t(
                'This deletes everything I hold of you, in every server, for good. If you want that: `mydata forget everything`.',
              ),
            );
          }
          assertTyped(ctx);
          const gone = await store.forget(ctx.actor.userId);
          const kept = [...store.stays().map(translated), ...alwaysStays(), ...(await inBackups(context))];
          const stays = kept.map((one) => `- ${one}`);
          return ctx.reply(
            [
              t(
                'Done. I have deleted what I held of you ({gone, plural, one {# document} other {# documents}}), also from what I kept for others.',
                { gone },
              ),
              t('What stays:'),
              ...stays,
            ].join('\n'),
          );
        },
      }),
      subcommand({
        name: 'of',
        description: 'Get everything I hold of a user as a file, as the bot’s owner',
        access: { tier: 'botOwner' },
        ephemeral: true,
        options: { user },
        run: async (ctx, { user: of }) => handOver(ctx, await store.export(of)),
      }),
      subcommand({
        name: 'erase',
        description: 'Delete everything I hold of a user, as the bot’s owner',
        access: { tier: 'botOwner' },
        ephemeral: true,
        options: { user, confirm: z.enum(['everything']).optional().describe('Write "everything" to delete it') },
        examples: ['mydata erase 123456789012345678 everything'],
        async run(ctx, { user: of, confirm }) {
          if (confirm === undefined) {
            return ctx.reply(
              t(
                'This deletes everything I hold of this user, in every server, for good. If you want that: `mydata erase {user} everything`.',
                { user: of },
              ),
            );
          }
          assertTyped(ctx);
          const gone = await store.forget(of);
          const stays = [...store.stays().map(translated), ...(await inBackups(context))].map((one) => `- ${one}`);
          return ctx.reply(
            [
              t(
                'Done. I have deleted what I held of this user ({gone, plural, one {# document} other {# documents}}). That you did so is in the audit.',
                { gone },
              ),
              t('What stays:'),
              ...stays,
            ].join('\n'),
          );
        },
      }),
    ],
  });
}

/** @throws UserError for an alias, whose user may not know the command in it */
function assertTyped({ actor }: CommandContext): void {
  if (actor.atMost !== undefined)
    throw new UserError(
      t('Type this command itself: by an alias, a member could delete their data without knowing it.'),
    );
}

/** Sends the data to the requester only: ephemeral for a slash command, otherwise by direct message. */
async function handOver(ctx: CommandContext, data: Readonly<Record<string, unknown>>): Promise<unknown> {
  const file = new AttachmentBuilder(Buffer.from(JSON.stringify(data, undefined, 2)), { name: 'my-data.json' });
  return replyPrivately(ctx, { content: t('This is everything I hold of you.'), files: [file] });
}
