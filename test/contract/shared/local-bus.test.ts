import { localBus } from '../../../src/modules/events/bus.ts';
import { testEventBus } from './event-bus-contract.ts';

testEventBus({ name: 'local', create: () => localBus() });
