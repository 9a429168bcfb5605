import { Access, definePlugin, Llm, optional } from '@cinnabar/sdk';
import { collections, createPartyOf, settings, sharedCharacters } from './roster/owner.js';
import { addPartyCharacter } from './tools/add.js';
import { recommendGear } from './tools/recommend.js';
import { removePartyCharacter } from './tools/remove.js';
import { viewPartyMembers } from './tools/view.js';

export default definePlugin({
  manifest: {
    id: 'party',
    version: '0.1.0',
    description: 'Keeps your role-playing party and recommends who gets which loot, in plain language',
    host: '^0.1.0',
  },
  settings,
  collections,
  inject: { access: Access, llm: optional(Llm) },
  setup({ client, tool, personalData, settings: { guild }, collections: stored, services }) {
    const partyOf = createPartyOf({ client, access: services.access, guildSettings: guild, stored });
    personalData(sharedCharacters(stored));
    tool(addPartyCharacter(partyOf));
    tool(removePartyCharacter(partyOf));
    tool(viewPartyMembers(partyOf));
    tool(recommendGear(partyOf, services.llm));
  },
});
