// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Stand-ins for the channel contract of the `batch-settlement` scheme and the escrow of `auth-capture`, for a local chain only: no npm
// package ships either. They keep the selectors, the EIP-712 types, the events, the transfers and the order of logs of the originals
// (x402-foundation/x402 3d73f63f, base/commerce-payments 3f77761c and its README for 1.1), so that the official client and facilitator
// use them and an indexer sees the same logs. Signatures are those of externally owned accounts.

interface Erc20 {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface Erc3009 {
    function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes calldata signature) external;
}

struct ChannelConfig {
    address payer;
    address payerAuthorizer;
    address receiver;
    address receiverAuthorizer;
    address token;
    uint40 withdrawDelay;
    bytes32 salt;
}

struct Voucher {
    ChannelConfig channel;
    uint128 maxClaimableAmount;
}

struct VoucherClaim {
    Voucher voucher;
    bytes signature;
    uint128 totalClaimed;
}

interface DepositCollector {
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external;
}

/// Recovers the signer of a digest from 65 bytes.
library Signer {
    error InvalidSignature();

    function requireSigner(address expected, bytes32 digest, bytes calldata signature) internal pure {
        if (signature.length != 65) revert InvalidSignature();
        address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        if (signer == address(0) || signer != expected) revert InvalidSignature();
    }
}

contract BatchSettlementDouble {
    struct Channel {
        uint128 balance;
        uint128 totalClaimed;
    }

    struct Receiver {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    struct Withdrawal {
        uint128 amount;
        uint40 initiatedAt;
    }

    event ChannelCreated(bytes32 indexed channelId, ChannelConfig config);
    event ChannelClosed(bytes32 indexed channelId, ChannelConfig config);
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
    event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);
    event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter);
    event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

    error ClaimExceedsBalance();
    error NotAuthorized();
    error WithdrawTooEarly();
    error WithdrawPending();
    error NothingToWithdraw();

    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 public constant CHANNEL_CONFIG_TYPEHASH = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );
    bytes32 private constant VOUCHER_TYPE = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");
    bytes32 private constant REFUND_TYPE = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");
    string private constant ENTRY = "ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)";

    mapping(bytes32 channelId => Channel) public channels;
    mapping(bytes32 channelId => Withdrawal) public pendingWithdrawals;
    mapping(bytes32 channelId => uint256) public refundNonce;
    mapping(address receiver => mapping(address token => Receiver)) public receivers;

    function multicall(bytes[] calldata data) external returns (bytes[] memory results) {
        results = new bytes[](data.length);
        for (uint256 at = 0; at < data.length; at++) {
            (bool done, bytes memory result) = address(this).delegatecall(data[at]);
            if (!done) assembly { revert(add(result, 32), mload(result)) }
            results[at] = result;
        }
    }

    function deposit(ChannelConfig calldata config, uint128 amount, address collector, bytes calldata data) external {
        bytes32 id = getChannelId(config);
        DepositCollector(collector).collect(config.payer, config.token, amount, id, data);
        Channel storage channel = channels[id];
        if (channel.balance == 0 && channel.totalClaimed == 0) emit ChannelCreated(id, config);
        channel.balance += amount;
        emit Deposited(id, msg.sender, amount, channel.balance);
    }

    function claim(VoucherClaim[] calldata claims) external {
        for (uint256 at = 0; at < claims.length; at++) {
            ChannelConfig calldata config = claims[at].voucher.channel;
            if (msg.sender != config.receiver && msg.sender != config.receiverAuthorizer) revert NotAuthorized();
            claimOne(claims[at]);
        }
    }

    function claimWithSignature(VoucherClaim[] calldata claims, bytes calldata signature) external {
        if (claims.length == 0) return;
        Signer.requireSigner(claims[0].voucher.channel.receiverAuthorizer, getClaimBatchDigest(claims), signature);
        for (uint256 at = 0; at < claims.length; at++) claimOne(claims[at]);
    }

    /// `balance` is what was deposited and not returned; claims raise `totalClaimed` up to it.
    function claimOne(VoucherClaim calldata row) private {
        ChannelConfig calldata config = row.voucher.channel;
        bytes32 id = getChannelId(config);
        Channel storage channel = channels[id];
        if (row.totalClaimed <= channel.totalClaimed) return;
        if (row.totalClaimed > row.voucher.maxClaimableAmount || row.totalClaimed > channel.balance) revert ClaimExceedsBalance();
        address authorizer = config.payerAuthorizer == address(0) ? config.payer : config.payerAuthorizer;
        Signer.requireSigner(authorizer, getVoucherDigest(id, row.voucher.maxClaimableAmount), row.signature);
        uint128 amount = row.totalClaimed - channel.totalClaimed;
        channel.totalClaimed = row.totalClaimed;
        receivers[config.receiver][config.token].totalClaimed += amount;
        emit Claimed(id, msg.sender, amount, row.totalClaimed);
    }

    function settle(address receiver, address token) external {
        Receiver storage account = receivers[receiver][token];
        uint128 amount = account.totalClaimed - account.totalSettled;
        if (amount == 0) return;
        account.totalSettled = account.totalClaimed;
        require(Erc20(token).transfer(receiver, amount));
        emit Settled(receiver, token, msg.sender, amount);
    }

    function refund(ChannelConfig calldata config, uint128 amount) external {
        if (msg.sender != config.receiver && msg.sender != config.receiverAuthorizer) revert NotAuthorized();
        giveBack(config, getChannelId(config), amount);
    }

    function refundWithSignature(ChannelConfig calldata config, uint128 amount, uint256 nonce, bytes calldata signature) external {
        bytes32 id = getChannelId(config);
        if (nonce != refundNonce[id]) revert NotAuthorized();
        Signer.requireSigner(config.receiverAuthorizer, getRefundDigest(id, nonce, amount), signature);
        giveBack(config, id, amount);
    }

    /// A refund of nothing uses up its nonce and logs nothing.
    function giveBack(ChannelConfig calldata config, bytes32 id, uint128 wanted) private {
        refundNonce[id]++;
        uint128 amount = take(id, wanted);
        if (amount == 0) return;
        Withdrawal storage pending = pendingWithdrawals[id];
        if (amount < pending.amount) pending.amount -= amount;
        else delete pendingWithdrawals[id];
        emit Refunded(id, msg.sender, amount);
        finish(config, id, amount);
    }

    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external {
        requirePayerSide(config);
        bytes32 id = getChannelId(config);
        Channel storage channel = channels[id];
        if (amount == 0 || amount > channel.balance - channel.totalClaimed) revert NothingToWithdraw();
        if (pendingWithdrawals[id].initiatedAt != 0) revert WithdrawPending();
        pendingWithdrawals[id] = Withdrawal(amount, uint40(block.timestamp));
        emit WithdrawInitiated(id, amount, uint40(block.timestamp) + config.withdrawDelay);
    }

    function finalizeWithdraw(ChannelConfig calldata config) external {
        requirePayerSide(config);
        bytes32 id = getChannelId(config);
        Withdrawal memory pending = pendingWithdrawals[id];
        if (pending.initiatedAt == 0 || block.timestamp < pending.initiatedAt + config.withdrawDelay) revert WithdrawTooEarly();
        delete pendingWithdrawals[id];
        uint128 amount = take(id, pending.amount);
        emit WithdrawFinalized(id, msg.sender, amount);
        finish(config, id, amount);
    }

    function requirePayerSide(ChannelConfig calldata config) private view {
        if (msg.sender != config.payer && msg.sender != config.payerAuthorizer) revert NotAuthorized();
    }

    /// At most what is not claimed.
    function take(bytes32 id, uint128 wanted) private returns (uint128 amount) {
        Channel storage channel = channels[id];
        uint128 free = channel.balance - channel.totalClaimed;
        amount = wanted < free ? wanted : free;
        channel.balance -= amount;
    }

    function finish(ChannelConfig calldata config, bytes32 id, uint128 amount) private {
        // A channel of which something was claimed keeps that much, so it never closes.
        if (channels[id].balance == 0) emit ChannelClosed(id, config);
        if (amount > 0) require(Erc20(config.token).transfer(config.payer, amount));
    }

    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return digestOf(keccak256(abi.encode(CHANNEL_CONFIG_TYPEHASH, config)));
    }

    function getVoucherDigest(bytes32 id, uint128 amount) public view returns (bytes32) {
        return digestOf(keccak256(abi.encode(VOUCHER_TYPE, id, amount)));
    }

    function getRefundDigest(bytes32 id, uint256 nonce, uint128 amount) public view returns (bytes32) {
        return digestOf(keccak256(abi.encode(REFUND_TYPE, id, nonce, amount)));
    }

    function getClaimBatchDigest(VoucherClaim[] calldata claims) public view returns (bytes32) {
        bytes memory entries;
        for (uint256 at = 0; at < claims.length; at++) {
            VoucherClaim calldata row = claims[at];
            bytes32 id = getChannelId(row.voucher.channel);
            bytes32 entry = keccak256(abi.encode(keccak256(bytes(ENTRY)), id, row.voucher.maxClaimableAmount, row.totalClaimed));
            entries = bytes.concat(entries, entry);
        }
        bytes32 batchType = keccak256(abi.encodePacked("ClaimBatch(ClaimEntry[] claims)", ENTRY));
        return digestOf(keccak256(abi.encode(batchType, keccak256(entries))));
    }

    function digestOf(bytes32 structHash) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN_TYPE, keccak256("x402 Batch Settlement"), keccak256("1"), block.chainid, address(this))
        );
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }
}

/// Pulls a deposit by EIP-3009 into itself and hands it to the channel contract.
contract DepositCollectorDouble {
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external {
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) =
            abi.decode(data, (uint256, uint256, uint256, bytes));
        bytes32 nonce = keccak256(abi.encode(channelId, salt));
        Erc3009(token).receiveWithAuthorization(payer, address(this), amount, validAfter, validBefore, nonce, signature);
        require(Erc20(token).transfer(msg.sender, amount));
    }
}

struct PaymentInfo {
    address operator;
    address payer;
    address receiver;
    address token;
    uint120 maxAmount;
    uint48 preApprovalExpiry;
    uint48 authorizationExpiry;
    uint48 refundExpiry;
    uint16 minFeeBps;
    uint16 maxFeeBps;
    address feeReceiver;
    uint256 salt;
}

interface TokenCollector {
    function collectTokens(PaymentInfo calldata info, address tokenStore, uint256 amount, bytes calldata data) external;
}

/// The vault of one operator.
contract TokenStoreDouble {
    address private immutable escrow = msg.sender;

    function sendTokens(address token, address to, uint256 amount) external {
        require(msg.sender == escrow);
        require(Erc20(token).transfer(to, amount));
    }
}

/// AuthCaptureEscrow 1.1: fees are amounts.
contract EscrowDouble {
    event PaymentCharged(bytes32 indexed hash, PaymentInfo info, uint256 amount, address collector, uint256 feeAmount, address feeReceiver);
    event PaymentAuthorized(bytes32 indexed hash, PaymentInfo info, uint256 amount, address collector);
    event PaymentCaptured(bytes32 indexed hash, uint256 amount, uint256 feeAmount, address feeReceiver);
    event PaymentVoided(bytes32 indexed hash, uint256 amount);
    event PaymentReclaimed(bytes32 indexed hash, uint256 amount);
    event PaymentRefunded(bytes32 indexed hash, uint256 amount, address collector);
    event TokenStoreCreated(address indexed operator, address tokenStore);

    error NotAuthorized();
    error InvalidAmount();
    error AlreadyCollected();
    error OutOfTime();

    struct State {
        bool collected;
        uint120 capturable;
        uint120 refundable;
    }

    bytes32 private constant PAYMENT_INFO_TYPE = keccak256(
        "PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)"
    );

    mapping(bytes32 hash => State) public paymentState;

    modifier onlySender(address sender) {
        if (msg.sender != sender) revert NotAuthorized();
        _;
    }

    function authorize(PaymentInfo calldata info, uint256 amount, address collector, bytes calldata data) external onlySender(info.operator) {
        bytes32 hash = open(info, amount);
        paymentState[hash].capturable = uint120(amount);
        emit PaymentAuthorized(hash, info, amount, collector);
        TokenCollector(collector).collectTokens(info, getTokenStore(info.operator), amount, data);
    }

    function charge(PaymentInfo calldata info, uint256 amount, address collector, bytes calldata data, uint256 feeAmount, address feeReceiver) external onlySender(info.operator) {
        bytes32 hash = open(info, amount);
        paymentState[hash].refundable = uint120(amount);
        emit PaymentCharged(hash, info, amount, collector, feeAmount, feeReceiver);
        TokenCollector(collector).collectTokens(info, getTokenStore(info.operator), amount, data);
        distribute(info, amount, feeAmount, feeReceiver);
    }

    function capture(PaymentInfo calldata info, uint256 amount, uint256 feeAmount, address feeReceiver) external onlySender(info.operator) {
        bytes32 hash = getHash(info);
        if (block.timestamp >= info.authorizationExpiry) revert OutOfTime();
        if (amount == 0 || amount > paymentState[hash].capturable) revert InvalidAmount();
        paymentState[hash].capturable -= uint120(amount);
        paymentState[hash].refundable += uint120(amount);
        emit PaymentCaptured(hash, amount, feeAmount, feeReceiver);
        distribute(info, amount, feeAmount, feeReceiver);
    }

    function void(PaymentInfo calldata info) external onlySender(info.operator) {
        (bytes32 hash, uint256 amount) = takeBack(info);
        emit PaymentVoided(hash, amount);
        send(info, info.payer, amount);
    }

    function reclaim(PaymentInfo calldata info) external onlySender(info.payer) {
        if (block.timestamp < info.authorizationExpiry) revert OutOfTime();
        (bytes32 hash, uint256 amount) = takeBack(info);
        emit PaymentReclaimed(hash, amount);
        send(info, info.payer, amount);
    }

    function refund(PaymentInfo calldata info, uint256 amount, address collector, bytes calldata data) external onlySender(info.operator) {
        bytes32 hash = getHash(info);
        if (amount == 0 || amount > paymentState[hash].refundable) revert InvalidAmount();
        paymentState[hash].refundable -= uint120(amount);
        emit PaymentRefunded(hash, amount, collector);
        TokenCollector(collector).collectTokens(info, getTokenStore(info.operator), amount, data);
        send(info, info.payer, amount);
    }

    function takeBack(PaymentInfo calldata info) private returns (bytes32 hash, uint256 amount) {
        hash = getHash(info);
        amount = paymentState[hash].capturable;
        if (amount == 0) revert InvalidAmount();
        paymentState[hash].capturable = 0;
    }

    /// A payment is collected once.
    function open(PaymentInfo calldata info, uint256 amount) private returns (bytes32 hash) {
        hash = getHash(info);
        if (amount == 0 || amount > info.maxAmount) revert InvalidAmount();
        if (block.timestamp >= info.preApprovalExpiry) revert OutOfTime();
        if (paymentState[hash].collected) revert AlreadyCollected();
        paymentState[hash].collected = true;
    }

    function distribute(PaymentInfo calldata info, uint256 amount, uint256 feeAmount, address feeReceiver) private {
        if (feeAmount > 0) send(info, feeReceiver, feeAmount);
        if (amount > feeAmount) send(info, info.receiver, amount - feeAmount);
    }

    /// Tokens wait at the store's address before it has code: the first that leave it create it.
    function send(PaymentInfo calldata info, address to, uint256 amount) private {
        address store = getTokenStore(info.operator);
        if (store.code.length == 0) {
            new TokenStoreDouble{salt: bytes32(bytes20(info.operator))}();
            emit TokenStoreCreated(info.operator, store);
        }
        TokenStoreDouble(store).sendTokens(info.token, to, amount);
    }

    function getTokenStore(address operator) public view returns (address) {
        bytes32 code = keccak256(type(TokenStoreDouble).creationCode);
        bytes32 salt = bytes32(bytes20(operator));
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), salt, code)))));
    }

    function getHash(PaymentInfo calldata info) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), keccak256(abi.encode(PAYMENT_INFO_TYPE, info))));
    }
}

/// Pulls by EIP-3009 the most that the payment may take, returns the excess, and hands the rest to the operator's store.
contract TokenCollectorDouble {
    function collectTokens(PaymentInfo calldata info, address tokenStore, uint256 amount, bytes calldata signature) external {
        PaymentInfo memory open = info;
        open.payer = address(0);
        bytes32 nonce = EscrowDouble(msg.sender).getHash(open);
        Erc3009(info.token).receiveWithAuthorization(
            info.payer, address(this), info.maxAmount, 0, info.preApprovalExpiry, nonce, signature
        );
        if (info.maxAmount > amount) require(Erc20(info.token).transfer(info.payer, info.maxAmount - amount));
        require(Erc20(info.token).transfer(tokenStore, amount));
    }
}

/// Takes a refund from the operator, who approved it.
contract RefundCollectorDouble {
    function collectTokens(PaymentInfo calldata info, address tokenStore, uint256 amount, bytes calldata) external {
        require(Erc20(info.token).transferFrom(info.operator, tokenStore, amount));
    }
}
