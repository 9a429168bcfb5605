import { type CommandContext, type PersonaEvent, subcommand, z } from '@cinnabar/sdk';
import type { PersonaContext } from '../context.js';
import { placeOf, shown } from './command-context.js';

export const traceCommand = (persona: PersonaContext) =>
  subcommand({
    name: 'trace',
    description: 'Show what the persona did in its latest runs here, step by step',
    help: 'Thoughts are shown in the answer to the slash command alone, which only you see, and where the setting `thoughts` says so.',
    access: { tier: 'mod' },
    ephemeral: true,
    options: { runs: z.number().int().min(1).max(8).default(1).describe('How many runs back') },
    async run(ctx, { runs }) {
      const { channelId, guildId } = placeOf(ctx);
      const events = await persona.traces.recent(channelId);
      const sessions = [...new Set(events.map(({ sessionId }) => sessionId))].slice(-runs);
      if (sessions.length === 0) {
        await ctx.reply('The persona has not done anything here yet.');
        return;
      }
      const showsThoughts = isPrivate(ctx) && (await persona.settingsFor(guildId)).thoughts === 'trace';
      const lines = sessions.flatMap((session) =>
        events.filter(({ sessionId }) => sessionId === session).map((event) => lineFor(event, showsThoughts)),
      );
      await ctx.reply(lines.join('\n'));
    },
  });

/** Whether the answer is visible to the caller only. */
function isPrivate({ source, actor }: CommandContext): boolean {
  return source === 'slash' || actor.guildId === null;
}

function lineFor(event: PersonaEvent, showsThoughts: boolean): string {
  switch (event.type) {
    case 'tool-started':
      return `▸ ${event.tool}${event.parameters.context === '' ? '' : `: ${shown(event.parameters.context, 150)}`}`;
    case 'tool-finished':
      return `${event.failed ? '✗' : '✓'} ${event.tool}: ${shown(event.result, 200)}`;
    case 'text':
      if (!event.isThought) return `💬 ${shown(event.content, 200)}`;
      return `💭 ${showsThoughts ? shown(event.content, 400) : '(a thought)'}`;
    case 'system':
      return `• ${event.event}: ${shown(event.message, 200)}${showsThoughts && event.reasoning ? ` — ${shown(event.reasoning, 300)}` : ''}`;
  }
}
