// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Stand-ins for contracts that no npm package ships, for a local chain only. They keep the selectors, the EIP-712 types and
// the events of the originals, so that a real x402 facilitator settles through them and an indexer sees the same logs.

interface Token {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;
}

struct TokenPermissions {
    address token;
    uint256 amount;
}

struct PermitTransferFrom {
    TokenPermissions permitted;
    uint256 nonce;
    uint256 deadline;
}

struct SignatureTransferDetails {
    address to;
    uint256 requestedAmount;
}

struct Permit2612 {
    uint256 value;
    uint256 deadline;
    bytes32 r;
    bytes32 s;
    uint8 v;
}

/// The witness half of Permit2's SignatureTransfer, for 65-byte signatures of externally owned accounts.
contract Permit2Double {
    error SignatureExpired(uint256 deadline);
    error InvalidAmount(uint256 maxAmount);
    error InvalidNonce();
    error InvalidSigner();

    mapping(address owner => mapping(uint256 word => uint256 bits)) public nonceBitmap;

    bytes32 private constant DOMAIN_TYPE = keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
    bytes32 private constant PERMISSIONS_TYPE = keccak256("TokenPermissions(address token,uint256 amount)");
    string private constant PERMIT_TYPE_STUB =
        "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,";

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN_TYPE, keccak256("Permit2"), block.chainid, address(this)));
    }

    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permitted,
        SignatureTransferDetails calldata details,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external {
        if (block.timestamp > permitted.deadline) revert SignatureExpired(permitted.deadline);
        if (details.requestedAmount > permitted.permitted.amount) revert InvalidAmount(permitted.permitted.amount);
        spendNonce(owner, permitted.nonce);
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256(abi.encodePacked(PERMIT_TYPE_STUB, witnessTypeString)),
                keccak256(abi.encode(PERMISSIONS_TYPE, permitted.permitted.token, permitted.permitted.amount)),
                msg.sender,
                permitted.nonce,
                permitted.deadline,
                witness
            )
        );
        requireSigner(owner, keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), structHash)), signature);
        require(Token(permitted.permitted.token).transferFrom(owner, details.to, details.requestedAmount));
    }

    function spendNonce(address owner, uint256 nonce) private {
        uint256 bit = 1 << (nonce & 0xff);
        uint256 word = nonce >> 8;
        if (nonceBitmap[owner][word] & bit != 0) revert InvalidNonce();
        nonceBitmap[owner][word] |= bit;
    }

    function requireSigner(address owner, bytes32 digest, bytes calldata signature) private pure {
        if (signature.length != 65) revert InvalidSigner();
        address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        if (signer == address(0) || signer != owner) revert InvalidSigner();
    }
}

/// What the exact and the upto proxy have in common.
abstract contract ProxyDouble {
    Permit2Double public constant PERMIT2 = Permit2Double(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    event Settled();
    event SettledWithPermit();

    error InvalidAmount();
    error PaymentTooEarly();
    error Permit2612AmountMismatch();

    function approveBySignature(Permit2612 calldata given, PermitTransferFrom calldata wanted, address owner) internal {
        if (given.value != wanted.permitted.amount) revert Permit2612AmountMismatch();
        Token(wanted.permitted.token).permit(owner, address(PERMIT2), given.value, given.deadline, given.v, given.r, given.s);
    }
}

/// x402ExactPermit2Proxy: pays exactly what was permitted.
contract ExactProxyDouble is ProxyDouble {
    struct Witness {
        address to;
        uint256 validAfter;
    }

    string private constant WITNESS =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";

    function settle(PermitTransferFrom calldata permit, address owner, Witness calldata witness, bytes calldata signature) external {
        pay(permit, owner, witness, signature);
        emit Settled();
    }

    function settleWithPermit(
        Permit2612 calldata permit2612,
        PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        approveBySignature(permit2612, permit, owner);
        pay(permit, owner, witness, signature);
        emit SettledWithPermit();
    }

    function pay(PermitTransferFrom calldata permit, address owner, Witness calldata witness, bytes calldata signature) private {
        if (block.timestamp < witness.validAfter) revert PaymentTooEarly();
        bytes32 hash = keccak256(
            abi.encode(keccak256("Witness(address to,uint256 validAfter)"), witness.to, witness.validAfter)
        );
        SignatureTransferDetails memory details = SignatureTransferDetails(witness.to, permit.permitted.amount);
        PERMIT2.permitWitnessTransferFrom(permit, details, owner, hash, WITNESS, signature);
    }
}

/// x402UptoPermit2Proxy: the facilitator bound by the signature pays any amount up to the permitted one.
contract UptoProxyDouble is ProxyDouble {
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    error AmountExceedsPermitted();
    error UnauthorizedFacilitator();

    string private constant WITNESS =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";

    function settle(
        PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        pay(permit, amount, owner, witness, signature);
        emit Settled();
    }

    function settleWithPermit(
        Permit2612 calldata permit2612,
        PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        approveBySignature(permit2612, permit, owner);
        pay(permit, amount, owner, witness, signature);
        emit SettledWithPermit();
    }

    function pay(
        PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) private {
        if (amount == 0) revert InvalidAmount();
        if (amount > permit.permitted.amount) revert AmountExceedsPermitted();
        if (msg.sender != witness.facilitator) revert UnauthorizedFacilitator();
        if (block.timestamp < witness.validAfter) revert PaymentTooEarly();
        bytes32 hash = keccak256(
            abi.encode(
                keccak256("Witness(address to,address facilitator,uint256 validAfter)"),
                witness.to,
                witness.facilitator,
                witness.validAfter
            )
        );
        SignatureTransferDetails memory details = SignatureTransferDetails(witness.to, amount);
        PERMIT2.permitWitnessTransferFrom(permit, details, owner, hash, WITNESS, signature);
    }
}

/// A payer that agrees to everything (EIP-1271), so that a bench can mint settlements without one signature each.
contract WillingPayer {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0x1626ba7e;
    }
}

/// A relaying contract that is nobody's standard: the settlement happens one call deeper than the transaction.
contract Router {
    function forward(address target, bytes calldata data) external {
        (bool done, ) = target.call(data);
        require(done, "forwarded call failed");
    }
}

/// An EIP-3009 token of another issuer: Transfer first, AuthorizationUsed after it. Checks no signature.
contract ReverseOrderToken {
    string public constant name = "Reverse Dollar";
    string public constant symbol = "RUSD";
    uint8 public constant decimals = 6;
    mapping(address account => uint256 atoms) public balanceOf;
    mapping(address authorizer => mapping(bytes32 nonce => bool used)) public authorizationState;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8,
        bytes32,
        bytes32
    ) external {
        require(block.timestamp > validAfter && block.timestamp < validBefore, "not valid now");
        require(!authorizationState[from][nonce], "used");
        authorizationState[from][nonce] = true;
        move(from, to, value);
        emit AuthorizationUsed(from, nonce);
    }

    function move(address from, address to, uint256 value) private {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
