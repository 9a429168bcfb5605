import { definePlugin } from '@cinnabar/sdk';

export default definePlugin({
  manifest: { id: 'relay', version: '0.1.0', description: 'Letta agents that live in the guild', host: '^0.1.0' },
  setup() {},
});
