import { type CommandContext, subcommand } from '@cinnabar/sdk';
import { selfName } from '../running/scene.js';
import { toldIn } from '../state/items.js';
import { type CommandParts, placeOf } from './parts.js';
import { listed, shown } from './show-text.js';

export const showCommand = (parts: CommandParts) =>
  subcommand({
    name: 'show',
    description: 'Show who the persona is, and how it feels',
    async run(ctx) {
      const { state, version } = await parts.store.read(placeOf(ctx));
      const told = parts.store.toldAt(placeOf(ctx));
      const { kind } = await parts.store.home(placeOf(ctx));
      const { mood, appearance, environment } = state;
      await ctx.reply(
        [
          `**${shown(nameIn(ctx, state.name))}** (${kind === 'guild' ? 'everywhere in this server' : 'in this channel'}, version ${version})`,
          shown(state.description, 600),
          `**Mood** ${shown(mood.name)} (${mood.intensity} of 10)`,
          ...(appearance === '' ? [] : [`**Appearance** ${shown(appearance)}`]),
          ...(environment === '' ? [] : [`**Environment** ${shown(environment)}`]),
          ...listed(
            'Goals',
            toldIn(state.goals, told).map(({ text }) => text),
          ),
          ...listed(
            'Desires',
            toldIn(state.desires, told).map(({ text }) => text),
          ),
        ].join('\n'),
      );
    },
  });

/** What the persona is called where the command was given. */
export function nameIn({ channel, guild, message }: CommandContext, own: string): string {
  if (channel.isSendable()) return selfName(own, channel);
  return own || (guild?.members.me?.displayName ?? message?.client.user.displayName ?? 'the persona');
}
