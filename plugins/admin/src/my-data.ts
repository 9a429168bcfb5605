import { type CommandContext, replyPrivately, subcommand, z } from '@cinnabar/sdk';
import { AttachmentBuilder } from 'discord.js';
import type { AdminContext } from './context.js';

const COOLDOWN = { uses: 2, perMs: 60_000 } as const;

/** What the bot never deletes. */
const ALWAYS_STAYS = [
  'your messages in Discord, which are yours to delete, and what I have said there',
  'what you have set up for a server as its admin, which belongs to the server',
];

/** `!mydata …`: the requester's own data. */
export function registerMyData({ group, services: { personalData: store } }: AdminContext): void {
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
              'This deletes everything I hold of you, in every server, for good. If you want that: `mydata forget everything`.',
            );
          }
          const gone = await store.forget(ctx.actor.userId);
          const stays = [...store.stays(), ...ALWAYS_STAYS].map((one) => `- ${one}`);
          return ctx.reply(
            [
              `Done. I have deleted what I held of you (${gone} ${gone === 1 ? 'document' : 'documents'}), also from what I kept for others.`,
              'What stays:',
              ...stays,
            ].join('\n'),
          );
        },
      }),
    ],
  });
}

/** Only the requester may see it: ephemeral for a slash command, otherwise by direct message. */
async function handOver(ctx: CommandContext, data: Readonly<Record<string, unknown>>): Promise<unknown> {
  const file = new AttachmentBuilder(Buffer.from(JSON.stringify(data, undefined, 2)), { name: 'my-data.json' });
  return replyPrivately(ctx, { content: 'This is everything I hold of you.', files: [file] });
}
