import { localBus } from '../../../src/modules/events/adapters/local.ts';
import { testEventBus } from './event-bus-contract.ts';

testEventBus({ name: 'local', create: () => localBus() });
