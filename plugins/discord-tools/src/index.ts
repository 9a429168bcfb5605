import { definePlugin } from '@cinnabar/sdk';

export default definePlugin({
  manifest: {
    id: 'discord-tools',
    version: '0.1.0',
    description: 'Discord as tools for models and agents, within the rights of who asks',
    host: '^0.1.0',
  },
  setup() {},
});
