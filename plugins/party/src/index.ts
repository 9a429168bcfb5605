import { definePlugin } from '@cinnabar/sdk';
import { collections, createPartyOf, inject, settings } from './characters.js';
import { recommendGear } from './recommend-gear.js';
import { addPartyCharacter, removePartyCharacter, viewPartyMembers } from './roster-tools.js';

export default definePlugin({
  manifest: {
    id: 'party',
    version: '0.1.0',
    description: 'Keeps your role-playing party and recommends who gets which loot, in plain language',
    host: '^0.1.0',
  },
  settings,
  collections,
  inject,
  setup(context) {
    const { tool, services } = context;
    const partyOf = createPartyOf(context);
    tool(addPartyCharacter(partyOf));
    tool(removePartyCharacter(partyOf));
    tool(viewPartyMembers(partyOf));
    tool(recommendGear(partyOf, services.llm));
  },
});
