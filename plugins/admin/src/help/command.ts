import { type CommandContext, type Commands, option, type Plugins, type Registrar, type Tools } from '@cinnabar/sdk';
import { code } from '../format.js';
import { overviewPage, searchPage } from './overview.js';
import { topicPage } from './pages.js';
import { findTopic, type HelpIndex, topicsOf } from './topic.js';

export interface HelpParts {
  readonly commands: Commands;
  readonly plugins: Plugins;
  readonly tools: Tools;
}

/** `!help`: made from what plugins declare, and only of what the member may use in that place. */
export function registerHelp({ command }: Pick<Registrar, 'command'>, parts: HelpParts): void {
  command({
    name: 'help',
    description: 'Show what I can do for you here',
    options: { topic: option.rest().optional().describe('A command, plugin or tool, or words to look for') },
    ephemeral: true,
    examples: ['help', 'help plugin reload', 'help prefix'],
    async run(ctx, { topic }) {
      const index = await indexFor(parts, ctx);
      const manner = { prefix: readablePrefix(ctx) };
      if (topic === undefined) return ctx.reply(overviewPage(index, manner));
      const asked = withoutPrefix(topic.trim(), ctx.prefix);
      const [, words = asked, number = '1'] = /^(.*\S)\s+(\d{1,3})$/.exec(asked) ?? [];
      const found = findTopic(words, index);
      const page = Number(number);
      if (found !== undefined) return ctx.reply(topicPage(found, index, manner, page));
      return ctx.reply(searchPage(words, page, index, manner) ?? unknown(words, index, parts));
    },
  });
}

/** A mention, which works as a prefix too, is shown by name. */
function readablePrefix({ prefix, channel }: CommandContext): string {
  return prefix.startsWith('<@') ? `@${channel.client.user.displayName} ` : prefix;
}

async function indexFor({ commands, plugins, tools }: HelpParts, { actor }: CommandContext): Promise<HelpIndex> {
  const [visible, offered] = await Promise.all([commands.visibleTo(actor), tools.offered(actor)]);
  return { commands: visible, tools: offered, plugins: plugins.list() };
}

function unknown(words: string, index: HelpIndex, { commands }: HelpParts): string {
  const similar = commands.similar(words, topicsOf(index));
  const hint = similar.length === 0 ? '' : ` Did you mean ${similar.slice(0, 3).map(code).join(' or ')}?`;
  return `There is no command, plugin or tool called ${code(words)} that you can use here.${hint}`;
}

function withoutPrefix(words: string, prefix: string): string {
  return words.startsWith(prefix) ? words.slice(prefix.length) : words;
}
