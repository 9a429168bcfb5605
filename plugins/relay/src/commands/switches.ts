import { option, type Subcommand, subcommand, UserError, z } from '@cinnabar/sdk';
import { CHANNEL_MODES, type ChannelMode } from '../agents/roster.js';
import { ADMIN, type Desk, guildOf } from './desk.js';

/** `!relay enable`, `disable`, `pause`, `resume` and `mode`. */
export function switchCommands({ rosters, queue, cutOff }: Desk): readonly Subcommand[] {
  return [
    subcommand({
      name: 'enable',
      description: 'Switch the agents of this server on',
      access: ADMIN,
      async run(ctx) {
        const { agents } = await rosters.update(guildOf(ctx), (draft) => {
          draft.enabled = true;
        });
        const next = Object.keys(agents).length === 0 ? ' There is none yet: let one in with `relay agent <id>`.' : '';
        return ctx.reply(`The agents of this server are switched on.${next} \`ai use relay\` lets them answer here.`);
      },
    }),
    subcommand({
      name: 'disable',
      description: 'Switch the agents of this server off, and cut off what is under way',
      access: ADMIN,
      async run(ctx) {
        const guildId = guildOf(ctx);
        await rosters.update(guildId, (draft) => {
          draft.enabled = false;
        });
        const cut = await cutOff(guildId);
        return ctx.reply(
          `The agents of this server are switched off: they read and post nothing more. ${cutText(cut)}`,
        );
      },
    }),
    subcommand({
      name: 'pause',
      description: 'Let messages wait until `relay resume`',
      access: ADMIN,
      async run(ctx) {
        await rosters.update(guildOf(ctx), (draft) => {
          draft.paused = true;
        });
        return ctx.reply('Paused: messages wait until `relay resume`. What an agent is being told goes on.');
      },
    }),
    subcommand({
      name: 'resume',
      description: 'Go on after `relay pause`',
      access: ADMIN,
      async run(ctx) {
        await rosters.update(guildOf(ctx), (draft) => {
          draft.paused = false;
        });
        queue.wake();
        return ctx.reply('Going on: the agents are told what has waited.');
      },
    }),
    subcommand({
      name: 'mode',
      description: 'What reaches the agents from a channel: always, mention, digest or off',
      help: '`always`: every message. `mention`: what is said to them. `digest`: that, and a summary now and then. `off`: nothing. Threads follow their channel.',
      access: ADMIN,
      options: {
        mode: z.enum(CHANNEL_MODES).optional().describe('The new mode; shows the present ones when left out'),
        channel: option.channel().optional().describe('The channel; this one when left out'),
      },
      examples: ['relay mode', 'relay mode digest', 'relay mode always #lounge'],
      async run(ctx, { mode, channel }) {
        const guildId = guildOf(ctx);
        if (mode === undefined) return ctx.reply(modesText(rosters.of(guildId)?.modes ?? {}));
        const where = channel?.id ?? ctx.channel.id;
        if (ctx.guild?.channels.cache.has(where) !== true) throw new UserError('That is no channel of this server.');
        await rosters.update(guildId, (draft) => {
          draft.modes[where] = mode;
        });
        return ctx.reply(`<#${where}> is in the mode \`${mode}\` now: ${MEANING[mode]}`);
      },
    }),
  ];
}

function cutText(cut: number): string {
  if (cut === 0) return 'Nothing was under way.';
  return `${cut} ${cut === 1 ? 'message that was under way is' : 'messages that were under way are'} cut off.`;
}

export function droppedText(dropped: number): string {
  if (dropped === 0) return 'Nothing was waiting.';
  return `${dropped} ${dropped === 1 ? 'message that was waiting is' : 'messages that were waiting are'} dropped.`;
}

const MEANING: Readonly<Record<ChannelMode, string>> = {
  always: 'the agent is told every message, outside quiet hours.',
  mention: 'the agent is told what is said to it.',
  digest: 'the agent is told what is said to it, and now and then what went on.',
  off: 'nothing reaches the agent from there.',
};

function modesText(modes: Readonly<Record<string, ChannelMode>>): string {
  const lines = Object.entries(modes).map(([channelId, mode]) => `• <#${channelId}>: \`${mode}\``);
  return lines.length === 0
    ? 'Every channel is in the mode `mention`: the agent is told what is said to it.'
    : ['Modes (`mention` everywhere else):', ...lines].join('\n');
}
